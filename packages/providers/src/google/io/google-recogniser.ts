import {
  type RecogniserTransport,
  ServiceRecogniser,
  type ServiceRecogniserOptions,
} from '../../io/service-recogniser.ts'
import type { SocketEnd } from '../../io/service-socket.ts'
import type { ServiceWire } from '../../speech-to-text/service-protocol.ts'
import { googleSpeech } from '../speech-v1.ts'
import { StreamingCalls } from '../streaming-calls.ts'
import { GrpcConnection } from './grpc-connection.ts'

/** Google's Speech-to-Text: one HTTP/2 connection for each stream. */
export class GoogleRecogniser extends ServiceRecogniser {
  /** `baseUrl`: "https://speech.googleapis.com", the default. */
  constructor(model: string, options: ServiceRecogniserOptions) {
    super(googleSpeech(model, options.baseUrl), options, GRPC)
  }
}

const GRPC: RecogniserTransport = {
  protocols: ['https:', 'http:'],
  open: ({ url, headers, time, maxQueuedBytes, bytesPerMs, wire = UNFRAMED }, { onOpen, onText, onEnd }) => {
    const end = (how: SocketEnd) => {
      calls.stop()
      connection.close()
      onEnd(how)
    }
    const onConnected = () => {
      calls.begin()
      onOpen()
    }
    const connection = new GrpcConnection({ url, headers, time, maxQueuedBytes }, { onOpen: onConnected, onEnd: end })
    const calls = new StreamingCalls(
      { openCall: listener => connection.call(listener), wire, bytesPerMs, time },
      { onText, onFailed: reason => end({ ...FAILED, reason }) },
    )
    return {
      send: message => calls.send(message),
      close: () => {
        calls.stop()
        connection.close()
      },
    }
  },
}

const UNFRAMED: ServiceWire = { opening: [], encode: message => message }

const FAILED: Omit<SocketEnd, 'reason'> = { cause: 'closed', code: null, status: null, retryAfterMs: null }
