import { availableParallelism, constants, setPriority } from 'node:os'
import type { PacketIoKind } from './choose-packet-io.ts'
import { loadNativeAddon, type NativeAddon } from './native-packet-io.ts'

/**
 * The priority of the thread that made it. While it has calls, media goes before all else that is busy on the machine, where we may
 * (CAP_SYS_NICE): by the real-time scheduler where the native layer can ask for it, else by a nice value, which on Linux is a thread's
 * own, but counts only among the threads of the same session or control group. Not allowed: packets leave when the scheduler lets them.
 *
 * Without calls a thread is as all others: V8 gives an idle thread tasks that repeat until V8's own threads have done their part, and
 * those would never run beside it.
 */
export class ThreadPriority {
  /** What can ask for the real-time scheduler; null: there is none, or an only core, of which a thread under a flood would leave nothing to signalling. */
  readonly #addon: NativeAddon | null
  #isRaised = false

  constructor(kind: PacketIoKind) {
    const addon = kind === 'native' && availableParallelism() > 1 ? loadNativeAddon() : null
    this.#addon = typeof addon === 'string' ? null : addon
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
    if (this.#addon?.realtime(isRaised) === 0) return
    const { PRIORITY_HIGH, PRIORITY_NORMAL } = constants.priority
    try {
      setPriority(0, isRaised ? PRIORITY_HIGH : PRIORITY_NORMAL)
    } catch {
      return
    }
  }
}
