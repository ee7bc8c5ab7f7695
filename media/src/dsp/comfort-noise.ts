import type { Samples } from '@parley/kernel'

/** What is sent when nothing plays: digital silence, or noise of a fixed low level. */
export declare class ComfortNoise {
  /** `levelDbfs`: -90 to -40, or null (default) for digital silence. */
  constructor(options?: { readonly levelDbfs?: number | null; readonly seed?: number })
  write(dst: Int16Array, offset: number, count: Samples): void
}
