import type { Ms } from '@parley/kernel'
import type { ServiceLine, UnkindManners } from '../sockets/service-line.ts'
import { SocketService, type SocketServiceOptions } from '../sockets/socket-service.ts'
import { type FakeVoiceCounts, type FakeVoiceOptions, noCounts } from './fake-voice.ts'
import { type FakeError, type FakeSession, VoiceLine } from './voice-line.ts'

/** What differs between the services. */
interface FakeVoiceService extends Pick<SocketServiceOptions, 'admit' | 'refusal'> {
  readonly idleCloseMs: Ms
  readonly error: FakeError
  readonly idle: FakeError
  readonly session: (line: VoiceLine, url: URL, counts: FakeVoiceCounts) => FakeSession
}

const MANNERS: UnkindManners = {
  nonsense: [
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
  nonsenseAtOnce: false,
  deafWhenSilent: false,
}

/** A fake voice over WebSockets, on a local port. */
export class FakeVoiceServer extends SocketService<FakeVoiceCounts> {
  protected constructor(service: FakeVoiceService, options: FakeVoiceOptions) {
    const counts = noCounts()
    const { admit, refusal, error, idle } = service
    const { idleCloseMs = service.idleCloseMs } = options
    const converse = (line: ServiceLine) => {
      const session = (voice: VoiceLine) => service.session(voice, line.url, counts)
      return new VoiceLine(line, { idleCloseMs, error, idle, session })
    }
    super({ ...options, admit, refusal, manners: MANNERS, converse }, counts)
  }
}
