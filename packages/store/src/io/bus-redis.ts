import { systemRandom, systemTime } from '@parley/kernel'
import { Redis } from 'ioredis'
import { CarriedBus } from '../bus/carried-bus.ts'
import type { Carrier, CarrierConnection, CarrierEvents } from '../bus/carrier.ts'
import { StoreError } from '../errors.ts'
import type { Bus } from '../protocol.ts'

const CHANNEL = 'parley:bus'
const ANSWER_WITHIN_MS = 5000

interface RedisBusOptions {
  /** `redis://` or `rediss://` (TLS). Every process of one installation uses the same server. */
  readonly url: string
  /** Receives a line when the server goes away, when it is back, and when a listener throws. Default: none. */
  readonly onProblem?: (line: string) => void
}

/** The bus on Redis publish and subscribe, over two connections. It connects, and reconnects, by itself. */
export function redisBus({ url, onProblem }: RedisBusOptions): Bus {
  return new CarriedBus(new RedisCarrier(url), {
    time: systemTime,
    random: systemRandom,
    ...(onProblem !== undefined && { onProblem }),
  })
}

/** The client never reconnects: `CarriedBus` opens new connections. */
const ONCE = {
  lazyConnect: true,
  retryStrategy: () => null,
  reconnectOnError: null,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  connectTimeout: ANSWER_WITHIN_MS,
  commandTimeout: ANSWER_WITHIN_MS,
  keepAlive: 10_000,
}

class RedisCarrier implements Carrier {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async open({ message, lost }: CarrierEvents, signal: AbortSignal): Promise<CarrierConnection> {
    signal.throwIfAborted()
    const clients = [new Redis(this.#url, ONCE), new Redis(this.#url, ONCE)] as const
    const [publisher, subscriber] = clients
    let over = false
    const end = () => {
      over = true
      for (const client of clients) client.disconnect()
    }
    const fail = (error: unknown) => {
      if (!over) lost(error)
      over = true
    }
    for (const client of clients) {
      client.on('error', fail)
      client.on('end', () => fail(new StoreError('redis_unavailable', 'the connection ended')))
    }
    subscriber.on('message', (_channel, text) => {
      if (!over) message(text)
    })
    signal.addEventListener('abort', end, { once: true })
    try {
      await Promise.all(clients.map(client => client.connect()))
      await subscriber.subscribe(CHANNEL)
    } catch (error) {
      end()
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
    return {
      send: async text => void (await publisher.publish(CHANNEL, text)),
      check: async () => void (await Promise.all([publisher.ping(), subscriber.ping()])),
      close: async () => end(),
    }
  }
}
