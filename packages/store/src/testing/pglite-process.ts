/**
 * PGlite with the extension pgvector, as a Postgres server on 127.0.0.1. Prints its port, and ends with its standard input.
 *
 * PGlite is one session. Each connection has its own user and settings, which are restored whenever another connection was served
 * before; a transaction is served to its end before another connection is. Names of prepared statements are of all connections
 * together: connections that use the same names must not be open at the same time.
 */
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { Semaphore } from '@parley/kernel'

const SSL_REQUEST = 80_877_103
const PARSE = 'P'.charCodeAt(0)
const IDLE = 'I'.charCodeAt(0)

const database = new PGlite({ extensions: { vector } })
await database.waitReady
const turn = new Semaphore(1)
let current: Connection | null = null

class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #session: string | null = null
  #isClosed = false
  #hasNames = false
  #wake: () => void = () => {}

  constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true)
    socket.on('data', data => {
      this.#received = Buffer.concat([this.#received, data])
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  async serve(): Promise<void> {
    if (!(await this.#begin())) return
    for (;;) {
      const first = await this.#message()
      if (first === null) break
      await turn.run(async () => {
        await this.#restore()
        let message: Buffer | null = first
        let isIdle = await this.#answer(message)
        // To the end of its transaction.
        while (!isIdle) {
          message = await this.#message()
          if (message === null) {
            await database.exec('rollback')
            return
          }
          isIdle = await this.#answer(message)
        }
      })
    }
    // The names are free for the connection that comes after it.
    if (this.#hasNames)
      await turn.run(async () => {
        await database.exec('deallocate all')
      })
  }

  /** Whether the session is idle after this message: outside of a transaction, with all answers sent. */
  async #answer(message: Buffer): Promise<boolean> {
    if (message[0] === PARSE && message[5] !== 0) this.#hasNames = true
    const answer = Buffer.from(await database.execProtocolRaw(message))
    this.#socket.write(answer)
    // Every answer ends with ReadyForQuery, but those of the extended protocol before Sync.
    return answer.length >= 6 && answer.at(-6) === 'Z'.charCodeAt(0) && answer.at(-1) === IDLE
  }

  /** Restores the connection's user and settings. */
  async #restore(): Promise<void> {
    if (current === this) return
    await database.exec(`reset session authorization; reset all; ${this.#session}`)
    current = this
  }

  /** Answers the start-up message. False: the connection was closed. */
  async #begin(): Promise<boolean> {
    let start = await this.#packet(0)
    if (start?.readInt32BE(4) === SSL_REQUEST) {
      this.#socket.write('N')
      start = await this.#packet(0)
    }
    if (start === null) return false
    const fields = start.subarray(8).toString('utf8').split('\0')
    const settings = new Map<string, string>()
    for (let at = 0; at + 1 < fields.length; at += 2) settings.set(fields[at]!, fields[at + 1]!)
    const options = (settings.get('options') ?? '').matchAll(/-c (\w+)=(\S+)/g)
    const sets = [...options].map(([, name, value]) => `set ${name} = ${value};`)
    this.#session = `set session authorization "${settings.get('user')}"; ${sets.join(' ')}`
    // AuthenticationOk, ReadyForQuery.
    this.#socket.write(Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1'))
    return true
  }

  /** The next message of the frontend; null: there is none, as the connection is over. */
  async #message(): Promise<Buffer | null> {
    const message = await this.#packet(1)
    return message === null || message[0] === 'X'.charCodeAt(0) ? null : message
  }

  /** A packet whose length stands after `tag` bytes. */
  async #packet(tag: number): Promise<Buffer | null> {
    for (;;) {
      const bytes = this.#received
      if (bytes.length >= tag + 4) {
        const length = tag + bytes.readInt32BE(tag)
        if (bytes.length >= length) {
          this.#received = bytes.subarray(length)
          return bytes.subarray(0, length)
        }
      }
      if (this.#isClosed) return null
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }
}

const server = createServer(socket => void new Connection(socket).serve().finally(() => socket.end()))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(address.port)
})
process.stdin.resume().on('end', () => process.exit())
