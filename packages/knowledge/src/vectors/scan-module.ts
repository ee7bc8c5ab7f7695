/**
 * WebAssembly that rates rows of 8-bit integers by their dot product with a query of 16-bit integers, 32 bytes of a row at a
 * time. JavaScript has no SIMD: the same loop in it takes 8 times as long. The module is this text, assembled:
 *
 * ```wat
 * (module
 *   (import "m" "memory" (memory 3))
 *   (func (export "scan") (param $vector i32) (param $count i32) (param $bytes i32) (param $query i32) (param $score i32)
 *     (local $end i32) (local $rowEnd i32) (local $q i32)
 *     (local $a v128) (local $b v128) (local $v v128)
 *     (local.set $end (i32.add (local.get $score) (i32.shl (local.get $count) (i32.const 2))))
 *     (block $done
 *       (loop $rows
 *         (br_if $done (i32.ge_u (local.get $score) (local.get $end)))
 *         (local.set $a (v128.const i32x4 0 0 0 0))
 *         (local.set $b (v128.const i32x4 0 0 0 0))
 *         (local.set $q (local.get $query))
 *         (local.set $rowEnd (i32.add (local.get $vector) (local.get $bytes)))
 *         (loop $lanes
 *           (local.set $v (v128.load (local.get $vector)))
 *           (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $v)) (v128.load (local.get $q)))))
 *           (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $v)) (v128.load offset=16 (local.get $q)))))
 *           (local.set $v (v128.load offset=16 (local.get $vector)))
 *           (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $v)) (v128.load offset=32 (local.get $q)))))
 *           (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $v)) (v128.load offset=48 (local.get $q)))))
 *           (local.set $vector (i32.add (local.get $vector) (i32.const 32)))
 *           (local.set $q (i32.add (local.get $q) (i32.const 64)))
 *           (br_if $lanes (i32.lt_u (local.get $vector) (local.get $rowEnd))))
 *         (local.set $a (i32x4.add (local.get $a) (local.get $b)))
 *         (i32.store (local.get $score)
 *           (i32.add
 *             (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
 *             (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
 *         (local.set $score (i32.add (local.get $score) (i32.const 4)))
 *         (br $rows)))))
 * ```
 */
const SCAN_MODULE =
  'AGFzbQEAAAABCQFgBX9/f39/AAINAQFtBm1lbW9yeQIAAwMCAQAHCAEEc2NhbgAACv4BAfsBAgN/A3sgBCABQQJ0aiEFAkADQCAE' +
  'IAVPDQH9DAAAAAAAAAAAAAAAAAAAAAAhCP0MAAAAAAAAAAAAAAAAAAAAACEJIAMhByAAIAJqIQYDQCAA/QAEACEKIAggCv2HASAH' +
  '/QAEAP26Af2uASEIIAkgCv2IASAH/QAEEP26Af2uASEJIAD9AAQQIQogCCAK/YcBIAf9AAQg/boB/a4BIQggCSAK/YgBIAf9AAQw' +
  '/boB/a4BIQkgAEEgaiEAIAdBwABqIQcgACAGSQ0ACyAIIAn9rgEhCCAEIAj9GwAgCP0bAWogCP0bAiAI/RsDamo2AgAgBEEEaiEE' +
  'DAALCws='

/** Of memory: a query of at most 16,384 components, then the scores of a block of rows, then the rows. */
export const QUERY_BYTES = 131_072
export const BLOCK_ROWS = 16_384
export const SCORE_BYTES = BLOCK_ROWS * 4
/** Rows are padded to a multiple of this. */
export const ROW_ALIGNMENT = 32
export const PAGE_BYTES = 65_536

type Scan = (rows: number, count: number, rowBytes: number, query: number, scores: number) => void

const module = new WebAssembly.Module(Buffer.from(SCAN_MODULE, 'base64'))

/** The scan on this memory. Arguments are offsets in bytes, the number of rows, and the bytes of a row. */
export function scanOn(memory: WebAssembly.Memory): Scan {
  return new WebAssembly.Instance(module, { m: { memory } }).exports.scan as Scan
}
