export declare function encodePcmu(
  src: Int16Array,
  srcOffset: number,
  count: number,
  dst: Uint8Array,
  dstOffset: number,
): number
export declare function decodePcmu(
  src: Uint8Array,
  srcOffset: number,
  count: number,
  dst: Int16Array,
  dstOffset: number,
): number
export declare function encodePcma(
  src: Int16Array,
  srcOffset: number,
  count: number,
  dst: Uint8Array,
  dstOffset: number,
): number
export declare function decodePcma(
  src: Uint8Array,
  srcOffset: number,
  count: number,
  dst: Int16Array,
  dstOffset: number,
): number
