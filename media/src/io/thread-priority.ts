import { availableParallelism, constants, setPriority } from 'node:os'
import type { PacketIoKind } from './choose-packet-io.ts'
import { loadNativeAddon } from './native-packet-io.ts'

/**
 * Media goes before all else that is busy on the machine, where we may (CAP_SYS_NICE): by the real-time scheduler where the
 * native layer can ask for it, else by a nice value, which on Linux is a thread's own, but counts only among the threads of
 * the same session or control group. Not allowed: packets leave when the scheduler lets them.
 */
export function raiseThreadPriority(packetIo: PacketIoKind): void {
  // Elsewhere the nice value would be the whole process's.
  if (process.platform !== 'linux') return
  // A thread under a flood would leave nothing of an only core to signalling.
  if (packetIo === 'native' && availableParallelism() > 1) {
    const addon = loadNativeAddon()
    if (typeof addon !== 'string' && addon.realtime() === 0) return
  }
  try {
    setPriority(0, constants.priority.PRIORITY_HIGH)
  } catch {
    return
  }
}
