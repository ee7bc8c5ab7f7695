import type { Ms, Time } from '@parley/kernel'
import type { FakeDelays, OpenHearing, Unkindness } from '../protocol.ts'
import type { Conversation, ServiceLine, UnkindManners } from '../sockets/service-line.ts'
import { SocketService, type SocketServiceOptions } from '../sockets/socket-service.ts'

/** What all fakes of recognisers are opened with. */
export interface FakeRecogniserOptions {
  /** The key that is let in. */
  readonly apiKey: string
  readonly hearing: OpenHearing
  /** One for each connection, in their order; those after it are served kindly. */
  readonly unkindness?: readonly Unkindness[]
  readonly delays?: FakeDelays
  /** Of idle closes and delays; default the system's. */
  readonly time?: Time
  /** A service closes when it got nothing for so long; default the vendor's. */
  readonly idleCloseMs?: Ms
  /** The newest word of what is not final is told cut short, and corrected later. Default false. */
  readonly revises?: boolean
}

/** What a fake was told, for assertions. */
export interface FakeRecogniserLog {
  /** Types of the text messages, in order. */
  readonly messages: string[]
  /** Queries of the connections, in order. */
  readonly queries: URLSearchParams[]
  /** Bytes of audio. */
  audioBytes: number
  /** The shortest and the longest message of audio, bytes. */
  shortest: number
  longest: number
  /** Close frames that the service sent, by code. */
  readonly closes: number[]
}

/** What differs between the services. */
interface RecogniserService extends Pick<SocketServiceOptions, 'admit' | 'refusal'> {
  readonly converse: (line: ServiceLine, log: FakeRecogniserLog) => Conversation
}

const MANNERS: UnkindManners = {
  nonsense: [
    'no json',
    '[]',
    'null',
    '{}',
    '{"type":7}',
    '{"type":"Results"}',
    '{"type":"Results","start":"x","duration":-1,"channel":{"alternatives":[null]}}',
    '{"type":"TurnInfo","event":"EndOfTurn"}',
    '{"type":"Turn","turn_order":null,"words":[1,{}]}',
    '{"type":"SomethingNew","__proto__":{"type":"Error"}}',
    Buffer.from([0, 1, 2, 255]),
  ],
  nonsenseAtOnce: true,
  deafWhenSilent: true,
}

/** A fake of a recogniser on a local port. */
export class FakeRecogniser extends SocketService {
  readonly log: FakeRecogniserLog

  protected constructor({ admit, refusal, converse }: RecogniserService, options: FakeRecogniserOptions) {
    const log = emptyLog()
    const counts = { connections: 0, open: 0, refused: 0 }
    super({ ...options, admit, refusal, manners: MANNERS, converse: line => converse(line, log) }, counts)
    this.log = log
  }
}

function emptyLog(): FakeRecogniserLog {
  return { messages: [], queries: [], audioBytes: 0, shortest: Number.POSITIVE_INFINITY, longest: 0, closes: [] }
}
