import { InMemoryEffectLedger } from '@parley/conversation'
import { SeededRandom } from '@parley/kernel'
import { WebRtcError } from '@parley/webrtc'
import { describe, expect, it } from 'vitest'
import { RoomEffects } from './room-effects.ts'

const unreachable = () => new WebRtcError('livekit_unreachable')

/** A LiveKit server that fails as given, one failure a request, and then answers. */
function server(...failures: readonly Error[]) {
  const left = [...failures]
  const requests: string[] = []
  const answer = async (request: string, result: string) => {
    requests.push(request)
    const failure = left.shift()
    if (failure !== undefined) throw failure
    return result
  }
  return {
    requests,
    createRoom: (runId: string) => answer(`create ${runId}`, 'RM_1'),
    deleteRoom: (runId: string) => answer(`delete ${runId}`, `parley-${runId}`),
  }
}

function effects(rooms: ReturnType<typeof server>) {
  const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => 0 })
  return { ledger, room: new RoomEffects(ledger, rooms, 'run-1') }
}

describe('the effects of a room', () => {
  it('creation and deletion are recorded with the receipts of the server', async () => {
    const rooms = server()
    const { ledger, room } = effects(rooms)
    await room.create(1000)
    expect(await room.end()).toBe(null)
    expect(rooms.requests).toEqual(['create run-1', 'delete run-1'])
    expect(ledger.records).toMatchObject([
      {
        effect_kind: 'rtc_room',
        action: { id: 'room.create' },
        state: 'succeeded',
        send_attempts: 1,
        receipts: [{ kind: 'rtc_room', resource_id: 'RM_1' }],
      },
      {
        action: { id: 'room.delete' },
        state: 'succeeded',
        receipts: [{ kind: 'rtc_room', resource_id: 'parley-run-1' }],
      },
    ])
  })

  it('a creation without an answer is sent once more, and is uncertain when there is none again', async () => {
    const once = effects(server(unreachable()))
    await once.room.create(1000)
    expect(once.ledger.records).toMatchObject([{ state: 'succeeded', send_attempts: 2 }])
    const twice = effects(server(unreachable(), unreachable()))
    await expect(twice.room.create(1000)).rejects.toThrow('did not answer')
    expect(twice.ledger.records).toMatchObject([{ state: 'uncertain', send_attempts: 2, error_code: 'no_answer' }])
  })

  it('a creation that the server refuses has failed and is not repeated', async () => {
    const rooms = server(new WebRtcError('room_refused', 'LiveKit answered 401: invalid key'))
    const { ledger, room } = effects(rooms)
    await expect(room.create(1000)).rejects.toThrow('invalid key')
    expect(rooms.requests).toHaveLength(1)
    expect(ledger.records).toMatchObject([{ state: 'failed', error_code: 'room_refused' }])
  })

  it('nothing is created when the intent cannot be recorded, and a room is deleted all the same', async () => {
    const rooms = server()
    const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => 0 })
    ledger.intend = () => Promise.reject(new Error('the database is away'))
    const room = new RoomEffects(ledger, rooms, 'run-1')
    await expect(room.create(1000)).rejects.toThrow('the database is away')
    expect(rooms.requests).toEqual([])
    expect(await room.end()).toBe(null)
    expect(rooms.requests).toEqual(['delete run-1'])
  })
})
