import type { Samples } from '@parley/kernel'

/** Packet-loss concealment after ITU-T G.711 Appendix I, without its 3.75 ms of delay. */
export declare class Concealment {
  /** Tells it of `count` good samples; after a concealed gap their head is overlapped in place with the concealment. */
  good(samples: Int16Array, offset: number, count: Samples): void
  /** Writes `count` samples that continue what was heard; silence from 60 ms on. */
  conceal(dst: Int16Array, offset: number, count: Samples): void
}
