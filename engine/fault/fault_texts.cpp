// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/fault/fault_texts.h"

namespace decodescope {

constinit const std::array<FaultInfo, n_fault> fault_texts{{
    {Fault::position_restart, "position-restart", "Positions restart with every call", FaultKind::position,
     "Every call that appends to a cache numbers its tokens from 0 again.", "Lanes with a cache.",
     "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Prefill exact; wrong from the first cached step (from row 0 of a chunk), more so the "
     "longer the text. The following steps stay wrong.",
     "Start at the number of tokens the row has seen: past + 0, past + 1, ...",
     "mlx-lm PR #93, executorch PR #2010", true},
    {Fault::position_plus_one, "position-plus-one", "Positions one too high when decoding",
     FaultKind::position, "Tokens that are appended to a cache get the position after theirs.",
     "Lanes with a cache.", "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Prefill exact; wrong from the first cached step. Under rotary positions too: new "
     "queries and keys move away from the old keys.",
     "The first new token's position is the number of tokens before it, not that number "
     "plus one.",
     "onnxruntime-genai PR #2354, optimum-tpu PR #45", true},
    {Fault::position_frozen, "position-frozen", "Position stays where the prompt ended", FaultKind::position,
     "All tokens after the first call get the position of the first of them.", "Lanes with a cache.",
     "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Prefill and the first cached step exact; wrong from the second on. In a chunk, row 0 "
     "is exact.",
     "Advance the position with every token, also where the cache no longer grows.", "transformers PR #38156",
     true},
    {Fault::position_jump, "position-jump", "Positions jump after the first step", FaultKind::position,
     "The prompt's length is added once more after the first cached step: 6, 12, 13 "
     "instead of 6, 7, 8. The jump is the length of the row's first call minus one.",
     "Lanes with a cache.", "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Prefill and the first cached step exact; wrong from the second on. Fails where the "
     "positions leave the model's table.",
     "Add the number of tokens fed, not the number of tokens of the prompt.", "tiny-llm PR #46", true},
    {Fault::query_offset, "query-offset", "Queries turned by the length after the update",
     FaultKind::position,
     "The cache's length is read after it has been advanced: queries are turned by "
     "positions as many too high as the call has tokens, keys by the right ones.",
     "Lanes with a cache; models with rotary positions.",
     "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Wrong from the prefill on, in every row; one-shot and one-by-one prefill disagree.",
     "Read the offset before the cache is updated, or copy it.", "mlx-lm #1097, #1384, PR #1396", true},
    {Fault::rotary_base_by_length, "rotary-base-by-length", "Rotary base follows the length of the text",
     FaultKind::position,
     "Once the text is more than three tokens longer than the row's first call, the base "
     "grows with its length (a factor of 2); keys that are stored already stay turned by "
     "the old one.",
     "Lanes with a cache; models with rotary positions.",
     "engine/fault/faulty_forward.cpp: FaultyForward::begin_call",
     "All steps before the switch exact; from it on wrong, little at first and growing "
     "slowly.",
     "Fix the base for a whole text, or turn the stored keys again when it changes.",
     "transformers #25104, PR #33129, onnxruntime-genai PR #1161", true},
    {Fault::mask_upper_left, "mask-upper-left", "Causal mask aligned at the upper left", FaultKind::mask,
     "The mask of an append counts queries from 0: query i sees slots 0 to i and none of "
     "what lies behind.",
     "Lanes with a cache that keeps its entries in order (all but window).",
     "engine/fault/faulty_forward.cpp: FaultyForward::plan",
     "Prefill exact; first cached step wrong: it only reads the value of slot 0. The "
     "strongest of the mask faults; later steps with a right mask stay wrong.",
     "Align the mask at the lower right: query i of a call sees past + i + 1 keys.",
     "PyTorch #108108, #103082, ONNX #8054, FlashAttention #282, hyprstream PR #1521", true},
    {Fault::mask_none_on_append, "mask-none-on-append", "No mask once there is a cache", FaultKind::mask,
     "An append sees everything that is stored, what comes later in the same call and pads "
     "included.",
     "Lanes with a cache. Single steps of unpadded rows need no mask and stay exact: "
     "prefill in chunks, drafts or pads show it.",
     "engine/fault/faulty_forward.cpp: FaultyForward::plan",
     "Single steps exact; in an append of several tokens the first rows are wrong, with "
     "two layers and more the last one too. In padded batches the short rows are wrong.",
     "Build the mask from positions whenever a call has more than one token or a row has "
     "pads.",
     "TinyLLM PR #18, llama #899, mlx-node PR #24", true},
    {Fault::mask_self_hidden, "mask-self-hidden", "A token does not see itself", FaultKind::mask,
     "Keys are visible where key < query instead of key <= query, once there is a cache.",
     "Lanes with a cache.", "engine/fault/faulty_forward.cpp: FaultyForward::plan",
     "Prefill exact; wrong from the first cached step, by less than other masks: the top "
     "token often stays.",
     "Compare with <=: a query sees itself.", "", true},
    {Fault::spare_slots_visible, "spare-slots-visible", "Unused slots of a static cache are visible",
     FaultKind::mask, "Queries of an append also read the slots that nothing was stored in yet.",
     "Lanes with a static cache that has room to spare (a capacity beyond the text).",
     "engine/fault/faulty_forward.cpp: FaultyForward::plan",
     "Prefill exact; wrong from the first cached step. The error depends on the capacity "
     "and shrinks as the cache fills.",
     "Mask by the number of entries, never by the tensor's length.",
     "transformers #30400, #30417, PR #30437, mlx-examples #977", true},
    {Fault::pad_slot_positions, "pad-slot-positions", "Left pads are counted in positions",
     FaultKind::padding,
     "Positions are column numbers: real tokens behind left pads start at the number of "
     "pads instead of 0.",
     "Static batches padded on the left.", "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Learned positions: rows with pads wrong from the prefill, the longest row exact. "
     "Rotary positions: every row exact, a shift that no logit can show.",
     "Number the real tokens of every row from 0.", "transformers #21080, #3021, PR #7552, nnsight #672",
     true},
    {Fault::pad_slot_positions_decode, "pad-slot-positions-decode",
     "Column numbers as positions once there is a cache", FaultKind::padding,
     "The prefill numbers each row's real tokens from 0, but decode steps use the shared "
     "column number.",
     "Static batches with pads and a cache.", "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Prefill and the longest row exact; rows with pads wrong from the first cached step.",
     "Keep one position per row and advance it.", "unsloth #3699, maclocal-api #92, ParlAI PR #3193", true},
    {Fault::pad_mask_dropped, "pad-mask-dropped", "Padding mask lost after the prefill", FaultKind::padding,
     "From the first cached step on, pads in the cache are visible.", "Static batches with pads and a cache.",
     "engine/fault/faulty_forward.cpp: FaultyForward::plan",
     "Prefill and the longest row exact; rows with pads wrong from the first cached step.",
     "The mask must cover past and new columns, and be passed on in every step.",
     "transformers #4130, #18104, exllamav2 #606", true},
    {Fault::pad_mask_none, "pad-mask-none", "No padding mask", FaultKind::padding,
     "Pads are treated like tokens: they see and are seen.", "Static batches with pads.",
     "engine/fault/faulty_forward.cpp: FaultyForward::plan",
     "Rows with pads on the left wrong from the prefill, with pads on the right from the "
     "first cached step; the longest row exact.",
     "Hide pads as keys in every layer and step.", "transformers #14521, exllamav2 #606", true},
    {Fault::pad_last_column, "pad-last-column", "Next token read at the last column of right-padded rows",
     FaultKind::padding,
     "The first token of every row is chosen from the logits of the prompt rectangle's "
     "last column, which belongs to a pad in shorter rows.",
     "Static batches padded on the right.", "engine/decode/batch_lane.cpp: BatchLane::add_columns",
     "The first new token of short rows is chosen from a pad; the logits of the real "
     "tokens are all exact. The longest row is right.",
     "Read each row at its own last token.", "transformers #26569, #14521", true},
    {Fault::cache_kept, "cache-kept", "Cache kept across requests", FaultKind::isolation,
     "The next request appends to what the one before it left in the cache.",
     "Cached lanes that serve one request after another; shows with two requests.",
     "engine/decode/batch_lane.cpp: BatchLane::open_group",
     "First request exact; the second wrong from its first row, its cache length starts "
     "where the first one ended. A request that is repeated does not repeat.",
     "Empty the cache when a request ends.", "candle-vllm #6, mistral.rs #1026, lag-llama #81", true},
    {Fault::counter_kept, "counter-kept", "Cache cleared, position counter not", FaultKind::isolation,
     "The next request finds an empty cache, but its positions go on from the request "
     "before.",
     "Cached lanes that serve one request after another; shows with two requests.",
     "engine/decode/batch_lane.cpp: BatchLane::open_group",
     "First request exact. Learned positions: the second wrong from its first row. Rotary "
     "positions: exact, only the counter shows it.",
     "Clear the counter with the entries.", "llama-cpp-python PR #2180, LLMs-from-scratch PR #1048", true},
    {Fault::blocks_freed_early, "blocks-freed-early", "Blocks of a running row given back",
     FaultKind::isolation,
     "When a text that goes on takes another block, the full one before it goes back to "
     "the pool although the row still reads it: whoever needs a block next overwrites it.",
     "Lanes with a paged cache that shares no prefixes.", "engine/cache/paged_cache.cpp: PagedCache::reserve",
     "Exact until a block is taken a second time; from then on the row that still reads it "
     "is wrong.",
     "Give a block back when its last row is done with it.", "", true},
    {Fault::token_twice, "token-twice", "Last prompt token fed twice", FaultKind::content,
     "The first decode step feeds the last prompt token once more in front of the new one.",
     "Cached lanes in single or static batches.", "engine/decode/batch_lane.cpp: BatchLane::step_decode",
     "Prefill exact; wrong from the first cached step. The cache holds one entry too many.",
     "Feed only what the cache does not hold yet.", "text-generation-webui PR #4145, llama.cpp PR #1609",
     true},
    {Fault::token_missing, "token-missing", "A token is missing from the cache", FaultKind::content,
     "The prompt's last entry is dropped after the prefill; positions go on as if it were "
     "there.",
     "Cached lanes in single or static batches with a concat, static, paged or int8 cache, "
     "not padded on the right.",
     "engine/decode/batch_lane.cpp: BatchLane::step_prefill",
     "Prefill exact; wrong from the first cached step. The cache holds one entry too few.",
     "After n tokens the cache must hold n entries: resume a prefix at its own length.",
     "vllm-mlx PR #311, onnxruntime-genai PR #1110", true},
    {Fault::prefix_fed_again, "prefix-fed-again", "The whole text is fed onto the cache again",
     FaultKind::content,
     "Every decode step feeds the text from its beginning, with positions from 0, on top "
     "of what is stored.",
     "Cached lanes that serve one request after another, all caches but window.",
     "engine/decode/batch_lane.cpp: BatchLane::step_decode",
     "Prefill exact; wrong from the first cached step, mildly. The cache grows by the "
     "whole text with every step.",
     "Feed the new token only.", "", true},
    {Fault::window_ignored, "window-ignored", "Sliding window ignored", FaultKind::window,
     "The mask shows everything back to the first token.",
     "Lanes with a window, or a model with one, and no window cache.", "engine/decode/lane.cpp: Lane::window",
     "Exact below the window's size W; first wrong at position W.",
     "Show a query itself and the W - 1 positions before it.", "mistral.rs #246, nanochat #452, PR #456",
     true},
    {Fault::window_too_wide, "window-too-wide", "Sliding window one too wide", FaultKind::window,
     "A query sees W positions before it instead of W - 1.", "Lanes with a window, or a model with one.",
     "engine/decode/lane.cpp: Lane::window", "Exact below the window's size W; first wrong at position W.",
     "A window of W is the query itself and W - 1 before it.", "mlx-lm PR #390", true},
    {Fault::window_too_narrow, "window-too-narrow", "Sliding window one too narrow", FaultKind::window,
     "A query sees W - 2 positions before it instead of W - 1; a window cache forgets one "
     "step early.",
     "Lanes with a window of 2 or more, or a model with one.", "engine/decode/lane.cpp: Lane::window",
     "First wrong at position W - 1, one step earlier than a window that is ignored.",
     "Forget an entry only when no later query can see it.",
     "transformers #37574, PR #38046, LLMs-from-scratch #1008", true},
    {Fault::window_position, "window-position", "Positions from the length of a window cache",
     FaultKind::window,
     "A new token's position is the number of entries that are kept, which stops growing "
     "when the window is full.",
     "Lanes with a window cache.", "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Exact below the window's size W; first wrong at position W, growing.",
     "Count the tokens seen apart from the entries kept.", "transformers PR #38156, #35350, #33691", true},
    {Fault::overflow_last_slot, "overflow-last-slot", "A full cache overwrites its last slot",
     FaultKind::capacity,
     "Writes are clamped to the last slot instead of being refused. Without a capacity of "
     "its own, the cache has room for three tokens after the prompt.",
     "Cached lanes with a static cache in single batches.",
     "engine/cache/static_cache.cpp: StaticCache::place",
     "Exact until the cache is full; first wrong when a second entry has gone into the "
     "last slot, growing. The length stays at the capacity.",
     "Refuse, or stop, when past + new tokens exceed the capacity.",
     "swarmllm #31, deepsparse PR #1447, llama2.c PR #348", true},
    {Fault::ring_without_window, "ring-without-window", "A full cache wraps around", FaultKind::capacity,
     "Slot = position modulo capacity, for a model that has no sliding window. Without a "
     "capacity of its own, the cache has room for three tokens after the prompt.",
     "Cached lanes with a static cache in single batches.",
     "engine/cache/static_cache.cpp: StaticCache::place",
     "Exact until the cache is full; wrong from the first entry that replaces another one. "
     "The length stays at the capacity.",
     "Wrap only where the model was trained with a window of that size.",
     "swarmllm #31, transformers PR #47708", true},
    {Fault::naive_crop, "naive-crop", "The loop without a cache crops its text", FaultKind::capacity,
     "Only the newest tokens are forwarded, numbered from 0: as many as the prompt has and "
     "three more.",
     "Naive lanes that serve one request after another.",
     "engine/decode/batch_lane.cpp: BatchLane::add_columns",
     "Exact until the text is longer than the crop, wrong from then on. Here the lane "
     "without a cache is the wrong one.",
     "Stop at the limit, or say what was dropped.", "ollama #4967, #3839, #17427", true},
    {Fault::drafts_kept, "drafts-kept", "Rejected drafts stay in the cache", FaultKind::rollback,
     "Entries of drafts that did not hold are not cut off, and positions go on behind "
     "them.",
     "Speculative lanes.", "engine/decode/speculative_lane.cpp: SpeculativeLane::roll_back",
     "The verify call itself exact; wrong from the next call on after a rejection. Runs in "
     "which all drafts hold stay right.",
     "After a verify call keep pending + accepted entries.", "mlx-lm #846, PR #1109, #1423", true},
    {Fault::rollback_position_only, "rollback-position-only", "Only the position is rolled back",
     FaultKind::rollback,
     "The counter goes back to the accepted tokens, the entries of rejected drafts stay "
     "and are seen.",
     "Speculative lanes.", "engine/decode/speculative_lane.cpp: SpeculativeLane::roll_back",
     "The verify call exact; wrong from the next call on after a rejection. Position ids "
     "are right, the cache length is not.",
     "Cut the entries off together with the counter.", "mlx-lm PR #1427", true},
    {Fault::rollback_short, "rollback-short", "Rolled back by one too few", FaultKind::rollback,
     "One entry of the rejected drafts stays.", "Speculative lanes.",
     "engine/decode/speculative_lane.cpp: SpeculativeLane::roll_back",
     "The verify call exact; wrong from the next call on after a rejection. The cache "
     "holds one entry too many.",
     "Drop exactly drafted - accepted entries.", "mlx-vlm PR #1155, transformers PR #48280", true},
    {Fault::rollback_long, "rollback-long", "Rolled back by one too many", FaultKind::rollback,
     "The last accepted entry goes with the rejected ones.", "Speculative lanes.",
     "engine/decode/speculative_lane.cpp: SpeculativeLane::roll_back",
     "The verify call exact; wrong from the next call on after a rejection. The cache "
     "holds one entry too few.",
     "Drop exactly drafted - accepted entries.", "aprender PR #2014", true},
    {Fault::draft_cache_trim, "draft-cache-trim", "Draft model's cache trimmed by two too many",
     FaultKind::rollback,
     "After a rejection the draft model's cache loses two entries more than it should, and "
     "never gets them back.",
     "Speculative lanes that draft with layers or a model.", "engine/decode/drafts.cpp: DraftModel::lose",
     "All logits exact: drafts are verified anyway. Only the acceptance rate falls.",
     "Trim both caches to the same length.", "mlxcel #994", false},
    {Fault::prefix_mutated, "prefix-mutated", "A shared prefix is written into", FaultKind::prefix,
     "A row appends into a block that others share, or may come to share, without taking a "
     "copy, and the index still promises the old tokens.",
     "Continuous batches with shared prefixes; shows when prompts part inside a block and "
     "the first one comes again.",
     "engine/cache/paged_cache.cpp: PagedCache::reserve",
     "The one who writes is exact; who reads the block after it is wrong from the first "
     "row it forwards.",
     "Copy a shared block before writing to it, and forget what an overwritten block was "
     "known as.",
     "vLLM #49449, MemOS #2301", true},
    {Fault::stale_weights, "stale-weights", "Weights changed under a cache that is kept", FaultKind::state,
     "Calls that append to a cache use weights that differ from those of the prefill by 2 "
     "% in one matrix (queries, keys and values of the first layer).",
     "Lanes with a cache.", "engine/fault/faulty_forward.cpp: FaultyForward::weights",
     "Prefill exact; wrong from the first cached step, by little: it looks like a "
     "quantised cache, which is off at the prefill already.",
     "Drop caches when weights change.", "lmdeploy #4917, prime-rl PR #1650, vLLM #9744", true},
    {Fault::dropout_on, "dropout-on", "Dropout left on", FaultKind::mode,
     "A tenth of the embeddings and attention outputs is set to 0 at random and the rest "
     "scaled up, as in training.",
     "All lanes.", "engine/fault/faulty_forward.cpp: FaultyForward::computed",
     "Everything wrong from the first row; the only fault that is not the same when the "
     "call is repeated.",
     "Switch the model to evaluation.", "TRL #3000, transformers PR #42586", true},
    {Fault::heads_tiled, "heads-tiled", "Key-value heads tiled instead of repeated", FaultKind::head_layout,
     "Query head h reads KV head h mod n instead of h / group, in all calls.",
     "Models with fewer KV heads than query heads, but more than one.",
     "engine/fault/faulty_forward.cpp: FaultyForward::head_order",
     "Everything wrong, with and without a cache alike: comparing both does not show it, "
     "an outside reference does.",
     "Repeat each KV head group times: k0 k0 k1 k1.", "ONNX PR #7274, axlearn PR #842, quant.cpp #61", true},
    {Fault::heads_tiled_decode, "heads-tiled-decode", "Key-value heads tiled once there is a cache",
     FaultKind::head_layout,
     "Query head h reads KV head h mod n instead of h / group when it reads a cache that "
     "holds something.",
     "Lanes with a cache; models with fewer KV heads than query heads, but more than one.",
     "engine/fault/faulty_forward.cpp: FaultyForward::head_order",
     "Prefill exact; wrong from the first cached step.", "Use one expansion for prefill and decode.",
     "FreeToken PR #177, jax-js PR #180", true},
    {Fault::heads_not_transposed, "heads-not-transposed", "Heads merged without transposing",
     FaultKind::head_layout,
     "The heads' outputs [head, token, width] are taken for [token, head x width] as they "
     "lie.",
     "All lanes; models with two heads or more.", "engine/fault/faulty_forward.cpp: FaultyForward::computed",
     "Calls of several tokens wrong; calls of one token exact, so a prompt that is fed one "
     "by one is right.",
     "Transpose to [token, head, width] before joining.", "transformer-from-scratch PR #6", true},
    {Fault::length_from_heads, "length-from-heads", "Past length read from the head axis",
     FaultKind::head_layout,
     "The number of stored tokens is read from the wrong axis of the cache: it is the "
     "number of KV heads, for ever.",
     "Lanes with a cache.", "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Prefill exact; wrong from the first cached step, unless the prompt is as long as "
     "there are KV heads. Positions do not move.",
     "Read the length from the token axis, or keep a counter.", "flash-linear-attention #126", true},
    {Fault::concat_wrong_axis, "concat-wrong-axis", "New entries concatenated along the head axis",
     FaultKind::head_layout, "Old and new keys are joined along the axis of the heads.",
     "Lanes with a concat cache.", "engine/cache/concat_cache.cpp: ConcatCache::grow",
     "The first append fails with a shape error; nothing is computed wrong.",
     "Concatenate along the token axis.", "foundation-model-stack #20", false},
    {Fault::rows_not_reindexed, "rows-not-reindexed", "Rows of the cache stay when the batch shrinks",
     FaultKind::batch,
     "When a request is done, the inputs of the others move up, the rows of the cache do "
     "not.",
     "Static batches with a cache; shows when a request ends before others behind it.",
     "engine/decode/batch_lane.cpp: BatchLane::step_decode",
     "Exact until a request ends; then rows that moved are wrong, those in front of it "
     "exact.",
     "Index the cache with the rows that go on.", "mlx-lm #965, PR #1169, tt-xla PR #5804", true},
    {Fault::beams_not_reordered, "beams-not-reordered", "Cache does not follow the beams", FaultKind::batch,
     "After beams cross, every row goes on from what it was, not from the beam it "
     "continues.",
     "Beam lanes.", "engine/decode/lane.cpp: Lane::reorder",
     "Exact until beams cross; then beams whose parent is another row are wrong, the "
     "others exact.",
     "Reorder the cache with the beams.", "transformers #46612", true},
    {Fault::positions_bf16, "positions-bf16", "Positions computed in bf16", FaultKind::dtype,
     "Position ids are rounded to 8 significant bits.", "All lanes; models with more than 257 positions.",
     "engine/fault/faulty_forward.cpp: FaultyForward::positions",
     "Exact up to position 256; 257 is the first that bf16 does not have. Lanes that share "
     "it agree.",
     "Compute positions and angles in f32.", "transformers PR #29285, #48428, candle PR #3520", true},
    {Fault::scales_dropped, "scales-dropped", "Quantised entries read without their scales", FaultKind::dtype,
     "Codes of keys and values are used as if they were the values.", "Lanes with an int8 cache.",
     "engine/cache/int8_cache.cpp: Int8Cache::read",
     "Wrong from the prefill on, as the first layer reads its own entries back.",
     "Multiply with the scale the entry was stored with.", "vLLM PR #54338, ik_llama.cpp PR #1592", true},
    {Fault::prompt_reprocessed, "prompt-reprocessed", "The whole text forwarded again in every step",
     FaultKind::cost, "The cache is emptied and the text fed from its beginning in every decode step.",
     "Cached lanes that serve one request after another.",
     "engine/decode/batch_lane.cpp: BatchLane::step_decode",
     "All logits exact; every step costs what a naive one does.",
     "Pass the cache on and feed the new token only.", "llama.cpp #14157, nanoVLM PR #69, DeepSpeed PR #7428",
     false},
    {Fault::blocks_never_freed, "blocks-never-freed", "Blocks of finished requests never given back",
     FaultKind::cost, "A request's blocks stay taken when it ends.",
     "Lanes with a paged cache in continuous batches; shows when a row serves a second "
     "request.",
     "engine/cache/paged_cache.cpp: PagedCache::shrink_table",
     "All logits exact; bytes in use never fall, and in the end a request is refused for "
     "want of blocks.",
     "Give a row's blocks back when its request ends, however it ends.", "SGLang PR #21652, vLLM #46283",
     false},
}};

}  // namespace decodescope
