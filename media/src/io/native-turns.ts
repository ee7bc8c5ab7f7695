import type { Ms } from '@parley/kernel'
import { PacketBatch } from '../packet-io/packet-io.ts'
import { type SendSlot, WAKE_MS } from '../session/send-slots.ts'
import type { NativeMediaPath, ProgressListener } from './native-media-path.ts'
import type { NativePacketIo } from './native-packet-io.ts'
import type { ThreadLateness } from './thread-lateness.ts'

/** Packets that are left to the cores at once. */
const LEFT_PACKETS = 128
/** Calls whose slot is left to the cores at once. */
const LEFT_CALLS = 128
/** Interval at which the event loop runs; commands end a run at once. */
const TURN_EVERY_MS: Ms = 20
/** A run that ends after its wake begins within this. */
const BEGINS_MS: Ms = 0.3

/** Why a run ended, in the order of `Result` in `media/native/turns.cc`. */
export const TURN = 0
export const LEFT_TO_SEND = 1
export const LEFT_RECEIVED = 2

/** Numbers that both sides keep, in the order of `State` in `media/native/turns.cc`. */
const GRID_START = 0
const LAST_WAKE = 1
const TURN_AT = 2
const WAKES = 3
const WAITED = 4
const COUNT = 5
const STATE_NUMBERS = 6

/**
 * The wakes of a media thread in C++ (`media/native/turns.cc`), from the sleep to the packets: JavaScript runs for what is not regular, for
 * events and commands, and every 20 ms.
 */
export class NativeTurns {
  /** Packets that a run has left to the cores. */
  readonly packets = new PacketBatch(LEFT_PACKETS)
  /** Calls that it has left: ids in the path, their slots, earlier slots that were not sent, and the outcome of the packet. */
  readonly ids = new Int32Array(LEFT_CALLS)
  readonly slotMs = new Float64Array(LEFT_CALLS)
  readonly missed = new Int32Array(LEFT_CALLS)
  readonly outcome = new Int8Array(LEFT_CALLS)
  readonly #path: NativeMediaPath
  readonly #io: Pick<NativePacketIo, 'sockets' | 'now'>
  readonly #state = new Float64Array(STATE_NUMBERS)
  #progress: ProgressListener | null = null

  constructor(path: NativeMediaPath, io: Pick<NativePacketIo, 'sockets' | 'now'>) {
    this.#path = path
    this.#io = io
  }

  /** How much of `packets`, or of the calls, the last run has left. */
  get count(): number {
    return this.#state[COUNT]!
  }

  get wakes(): number {
    return this.#state[WAKES]!
  }

  get waitedMs(): Ms {
    return this.#state[WAITED]!
  }

  get lastWake(): number {
    return this.#state[LAST_WAKE]!
  }

  /** Wakes are counted from `gridStart`; those up to `wake` are over. */
  begin(gridStart: Ms, wake: number): void {
    this.#state[GRID_START] = gridStart
    this.#state[LAST_WAKE] = Math.max(this.#state[LAST_WAKE]!, wake)
  }

  /** `listener` takes the reports of playout, of which each call has several a second, instead of the calls' cores. */
  reportProgressTo(listener: ProgressListener): void {
    this.#progress = listener
  }

  /** Null: the call has no slot any more. */
  place(pathId: number, slot: SendSlot<unknown> | null): void {
    if (slot === null) this.#path.native.place(pathId, 0, 0, 0)
    else this.#path.native.place(pathId, slot.slot, slot.periodWakes, slot.nextWake)
  }

  /** The next run ends after one wake, or before it if it begins late. */
  endAfterWake(): void {
    const nextWake = this.#state[GRID_START]! + (this.#state[LAST_WAKE]! + 1) * WAKE_MS
    this.#state[TURN_AT] = Math.min(this.#state[TURN_AT]!, Math.max(nextWake, this.#io.now() + BEGINS_MS))
  }

  /** Lets the event loop run where it is time. */
  async yield(): Promise<void> {
    if (this.#io.now() < this.#state[TURN_AT]!) return
    await new Promise(resolve => setImmediate(resolve))
    this.#state[TURN_AT] = this.#io.now() + TURN_EVERY_MS
  }

  /**
   * Wakes until JavaScript is wanted, and passes on what the calls had to report. After LEFT_TO_SEND, LEFT_RECEIVED, or the third, calls
   * that are left to be advanced, the wake goes on in the next run.
   */
  run(words: Int32Array, { all, recent }: ThreadLateness): number {
    const { bytes, length, socket, ipv4, port, arrivedAt } = this.packets
    const { histogram } = recent
    const path = this.#path
    const end = path.native.run(
      this.#io.sockets,
      this.#state,
      words,
      bytes,
      length,
      socket,
      ipv4,
      port,
      arrivedAt,
      this.ids,
      this.slotMs,
      this.missed,
      this.outcome,
      path.events,
      all.buckets,
      all.totals,
      histogram.buckets,
      histogram.totals,
    )
    path.report(this.#progress)
    return end
  }
}
