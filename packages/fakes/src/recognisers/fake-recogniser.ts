import type { Ms, Time } from '@parley/kernel'
import type { FakeDelays, OpenRecogniser, ServiceFault } from '../protocol.ts'
import type { ConnectionHandler, FakeConnection, FaultBehaviour } from '../sockets/fake-connection.ts'
import { SocketService, type SocketServiceOptions } from '../sockets/socket-service.ts'

/** Options of all fake recognisers. */
export interface FakeRecogniserOptions {
  /** The only key that is accepted. */
  readonly apiKey: string
  /** Recognises the words of a connection's audio. */
  readonly openRecogniser: OpenRecogniser
  /** Faults of the first connections, one each; connections after them are served. */
  readonly faults?: readonly ServiceFault[]
  readonly delays?: FakeDelays
  /** Clock of idle closes and delays; default the system's. */
  readonly time?: Time
  /** The service closes a connection that sent nothing for this time; default the vendor's. */
  readonly idleCloseMs?: Ms
  /** Partial results truncate the newest word and correct it later. Default false. */
  readonly revises?: boolean
}

/** What a fake received, for assertions. */
export interface FakeRecogniserLog {
  /** Types of the received text messages, in order. */
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
export interface RecogniserService extends Pick<SocketServiceOptions, 'admit' | 'refusal'> {
  readonly handle: (connection: FakeConnection, log: FakeRecogniserLog) => ConnectionHandler
}

const FAULT_BEHAVIOUR: FaultBehaviour = {
  garbage: [
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
  garbageAtOnce: true,
  countsFromAudio: false,
  ignoresInputWhenSilent: true,
}

/** A fake of a recogniser on a local port. */
export class FakeRecogniser extends SocketService {
  readonly log: FakeRecogniserLog

  protected constructor({ admit, refusal, handle }: RecogniserService, options: FakeRecogniserOptions) {
    const log = emptyLog()
    const counts = { connections: 0, open: 0, refused: 0 }
    super(
      { ...options, admit, refusal, faultBehaviour: FAULT_BEHAVIOUR, handle: connection => handle(connection, log) },
      counts,
    )
    this.log = log
  }
}

function emptyLog(): FakeRecogniserLog {
  return { messages: [], queries: [], audioBytes: 0, shortest: Number.POSITIVE_INFINITY, longest: 0, closes: [] }
}
