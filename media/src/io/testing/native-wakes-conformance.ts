import assert from 'node:assert/strict'
import { PacketBatch } from '../../packet-io/packet-io.ts'
import { SendSlots } from '../../session/send-slots.ts'
import { SessionRings } from '../../session/session-rings.ts'
import type { NativeAddon } from '../native-packet-io.ts'
import { coreOf } from './native-turns-conformance.ts'
import { TurnsRig } from './turns-rig.ts'

const LOOPBACK = 0x7f00_0001
/** Runs of about 20 ms each. */
const RUNS = 12
/** Fewer than a socket holds, more than a wake takes of one that is not flooded. */
const FLOOD_PACKETS = 60
/** A machine that holds the thread up leaves out wakes of its own accord; the promise is about one that does not. */
const ATTEMPTS = 100

/** A wake without a slot is left out, one at a time; after a wake in which a socket was flooded it is not. */
export async function checkEmptySlots(addon: NativeAddon): Promise<void> {
  const quiet = await wake(addon, 0)
  assert.ok(quiet.wakes <= quiet.slots / 2 + 1, `${quiet.wakes} wakes in ${quiet.slots} slots`)
  let most = 0
  for (let attempt = 0; attempt < ATTEMPTS && most < RUNS / 4; attempt++) {
    const flooded = await wake(addon, FLOOD_PACKETS)
    most = Math.max(most, flooded.wakes - flooded.slots / 2)
  }
  assert.ok(most >= RUNS / 4, `a flood had at most ${most} wakes more than every other one`)
}

/** Wakes of a thread with one call, and how many slots passed; the call's socket gets `flood` packets about every 20 ms. */
async function wake(addon: NativeAddon, flood: number): Promise<{ readonly wakes: number; readonly slots: number }> {
  const rig = new TurnsRig(addon)
  const attacker = new addon.PacketIo(performance.now())
  const [socket, from] = [rig.sockets.open(LOOPBACK, 0), attacker.open(LOOPBACK, 0)]
  try {
    rig.moveTo(1)
    const id = rig.path.add(coreOf(rig.gridStart, 1, new SessionRings()), socket, socket)
    rig.turns.place(id, new SendSlots<null>(1).add(null, 20))
    const { bytes, length, socket: sockets, ipv4, port } = new PacketBatch(FLOOD_PACKETS)
    length.fill(172)
    sockets.fill(from)
    ipv4.fill(LOOPBACK)
    port.fill(rig.sockets.port(socket))
    const [wakes, slots] = [rig.turns.wakes, rig.turns.lastWake]
    for (let run = 0; run < RUNS; run++) {
      attacker.send(bytes, length, sockets, ipv4, port, flood)
      await rig.run({ toSend: () => {}, received: () => {}, toAdvance: () => {} })
    }
    rig.path.remove(id)
    return { wakes: rig.turns.wakes - wakes, slots: rig.turns.lastWake - slots }
  } finally {
    rig.sockets.close(socket)
    attacker.close(from)
  }
}
