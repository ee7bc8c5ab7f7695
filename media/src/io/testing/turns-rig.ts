import type { Ms } from '@parley/kernel'
import type { PacketBatch } from '../../packet-io/packet-io.ts'
import { WAKE_MS } from '../../session/send-slots.ts'
import { NativeMediaPath } from '../native-media-path.ts'
import type { NativeAddon, NativeSockets } from '../native-packet-io.ts'
import { LEFT_RECEIVED, LEFT_TO_SEND, NativeTurns, TURN } from '../native-turns.ts'
import { ThreadLateness } from '../thread-lateness.ts'

/** A call whose slot is at a wake, and that C++ has left to its core. */
export interface LeftCall {
  readonly pathId: number
  readonly slotMs: Ms
  readonly missed: number
  /** Whether its packet was sent, and only its RTCP report may be due. */
  readonly isSent: boolean
}

/** Takes what a run of wakes has left. */
interface LeftOver {
  toSend(calls: readonly LeftCall[]): void
  received(packets: PacketBatch, count: number): void
  toAdvance(calls: readonly LeftCall[]): void
}

const COMPOSED = 1

/** Wakes in C++ over sockets of its own, on a grid that the caller moves. */
export class TurnsRig {
  readonly path: NativeMediaPath
  readonly sockets: NativeSockets
  readonly turns: NativeTurns
  readonly #lateness: ThreadLateness
  readonly #words = new Int32Array(new SharedArrayBuffer(64))
  #gridStart: Ms = 0

  constructor(addon: NativeAddon) {
    this.path = new NativeMediaPath(addon)
    this.sockets = new addon.PacketIo(performance.now())
    this.turns = new NativeTurns(this.path, { sockets: this.sockets, now: () => performance.now() })
    this.#lateness = new ThreadLateness(this.#words, performance.now())
  }

  get gridStart(): Ms {
    return this.#gridStart
  }

  /** Moves the grid, so that `wake` is the current one. */
  moveTo(wake: number): void {
    this.#gridStart = performance.now() - wake * WAKE_MS
    this.turns.begin(this.#gridStart, 0)
  }

  /** Wakes of about 20 ms. */
  async run(left: LeftOver): Promise<void> {
    const { turns } = this
    await turns.yield()
    for (;;) {
      const result = turns.run(this.#words, this.#lateness)
      if (result === TURN) return
      if (result === LEFT_RECEIVED) left.received(turns.packets, turns.count)
      else if (result === LEFT_TO_SEND) left.toSend(this.#calls())
      else left.toAdvance(this.#calls())
    }
  }

  #calls(): LeftCall[] {
    const { ids, slotMs, missed, outcome, count } = this.turns
    return Array.from({ length: count }, (_, i) => ({
      pathId: ids[i]!,
      slotMs: slotMs[i]!,
      missed: missed[i]!,
      isSent: outcome[i] === COMPOSED,
    }))
  }
}
