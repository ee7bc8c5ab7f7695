import { systemRandom, systemTime } from '@parley/kernel'
import { Client } from 'pg'
import { CarriedBus } from '../bus/carried-bus.ts'
import type { Carrier, CarrierConnection, CarrierEvents } from '../bus/carrier.ts'
import { StoreError } from '../errors.ts'
import type { Bus } from '../protocol.ts'

const CHANNEL = 'parley_bus'
const ANSWER_WITHIN_MS = 5000

interface PostgresBusOptions {
  /** Any role that may connect. Not through a pooler that shares connections between transactions: LISTEN needs its own. */
  readonly url: string
  /** Receives a line when the server goes away, when it is back, and when a listener throws. Default: none. */
  readonly onProblem?: (line: string) => void
}

/** The bus on LISTEN and NOTIFY, over one connection of its own. It connects, and reconnects, by itself. */
export function postgresBus({ url, onProblem }: PostgresBusOptions): Bus {
  return new CarriedBus(new PostgresCarrier(url), {
    time: systemTime,
    random: systemRandom,
    ...(onProblem !== undefined && { onProblem }),
  })
}

class PostgresCarrier implements Carrier {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async open({ message, lost }: CarrierEvents, signal: AbortSignal): Promise<CarrierConnection> {
    signal.throwIfAborted()
    const client = new Client({
      connectionString: this.#url,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      application_name: 'parley-bus',
    })
    let over = false
    const end = () => {
      over = true
      client.end().catch(() => {})
    }
    const fail = (error: unknown) => {
      if (!over) lost(error)
      over = true
    }
    // The listener stays until the end: an 'error' event without a listener would end the process.
    client.on('error', fail)
    client.on('end', () => fail(new StoreError('database_unavailable', 'the connection ended')))
    client.on('notification', ({ channel, payload }) => {
      if (!over && channel === CHANNEL) message(payload ?? '')
    })
    signal.addEventListener('abort', end, { once: true })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      end()
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
    return {
      send: async text => void (await client.query('select pg_notify($1, $2)', [CHANNEL, text])),
      check: async () => void (await client.query('select')),
      close: () => {
        over = true
        return ended(client)
      },
    }
  }
}

/** Closes the connection, by force if the server does not answer. */
function ended(client: Client): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const force = setTimeout(() => {
    client.connection.stream.destroy()
    resolve()
  }, 1000)
  client.end().then(resolve, resolve)
  return promise.finally(() => clearTimeout(force))
}
