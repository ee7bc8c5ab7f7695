import type { Ms } from '@parley/kernel'
import type { FakeConnection, FaultBehaviour } from '../sockets/fake-connection.ts'
import { SocketService, type SocketServiceOptions } from '../sockets/socket-service.ts'
import { type FakeVoiceCounts, type FakeVoiceOptions, noCounts } from './fake-voice.ts'
import { type FakeError, type FakeSession, VoiceConnection } from './voice-connection.ts'

/** What differs between the services. */
interface FakeVoiceService extends Pick<SocketServiceOptions, 'admit' | 'refusal'> {
  readonly idleCloseMs: Ms
  readonly error: FakeError
  readonly idle: FakeError
  readonly session: (connection: VoiceConnection, url: URL, counts: FakeVoiceCounts) => FakeSession
}

const FAULT_BEHAVIOUR: FaultBehaviour = {
  garbage: [
    '{',
    'null',
    '[]',
    '"x"',
    '{}',
    '{"type":"Nonsense"}',
    '{"audio":7,"contextId":null}',
    '{"type":"chunk","data":{}}',
    Buffer.alloc(0),
  ],
  garbageAtOnce: false,
  countsFromAudio: true,
  ignoresInputWhenSilent: false,
}

/** A fake voice over WebSockets, on a local port. */
export class FakeVoiceServer extends SocketService<FakeVoiceCounts> {
  protected constructor(service: FakeVoiceService, options: FakeVoiceOptions) {
    const counts = noCounts()
    const { admit, refusal, error, idle } = service
    const { idleCloseMs = service.idleCloseMs } = options
    const handle = (connection: FakeConnection) => {
      const session = (voice: VoiceConnection) => service.session(voice, connection.url, counts)
      return new VoiceConnection(connection, { idleCloseMs, error, idle, session })
    }
    super({ ...options, admit, refusal, faultBehaviour: FAULT_BEHAVIOUR, handle }, counts)
  }
}
