import { availableParallelism, constants, setPriority } from 'node:os'
import type { PacketIoKind } from './choose-packet-io.ts'
import { loadNativeAddon } from './native-packet-io.ts'

/**
 * The priority of the thread that made it. While it has calls, media goes before all else that is busy on the machine, where we may
 * (CAP_SYS_NICE): by the real-time scheduler where the native layer can ask for it, else by a nice value, which on Linux is a thread's
 * own, but counts only among the threads of the same session or control group. Not allowed: packets leave when the scheduler lets them.
 *
 * Without calls a thread is as all others: V8 gives an idle thread tasks that repeat until V8's own threads have done their part, and
 * those would never run beside it.
 */
export class ThreadPriority {
  readonly #kind: PacketIoKind
  #isRaised = false

  constructor(kind: PacketIoKind) {
    this.#kind = kind
  }

  raise(): void {
    if (this.#isRaised) return
    this.#isRaised = true
    this.#set(true)
  }

  lower(): void {
    if (!this.#isRaised) return
    this.#isRaised = false
    this.#set(false)
  }

  #set(isRaised: boolean): void {
    // Elsewhere the nice value would be the whole process's.
    if (process.platform !== 'linux') return
    // A thread under a flood would leave nothing of an only core to signalling.
    if (this.#kind === 'native' && availableParallelism() > 1) {
      const addon = loadNativeAddon()
      if (typeof addon !== 'string' && addon.realtime(isRaised) === 0) return
    }
    const { PRIORITY_HIGH, PRIORITY_NORMAL } = constants.priority
    try {
      setPriority(0, isRaised ? PRIORITY_HIGH : PRIORITY_NORMAL)
    } catch {
      return
    }
  }
}
