import type { QueryResult } from 'kysely'
import type { Connection, PoolClient, Submittable } from 'pg'
import { serialize } from 'pg-protocol'
import { valueParsers } from './value-parsers.ts'
import { wireValue } from './wire-value.ts'

/** A prepared statement: Postgres parses its text once per connection. */
export interface Statement {
  /** Unique for its text. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** What became of a batch. */
export interface BatchOutcome {
  /** Results of the statements before the one that failed, in order; without a failure, of all. */
  readonly results: readonly QueryResult<never>[]
  /** The error of the failed statement, or of the connection; undefined: there is none. */
  readonly failure: unknown
}

/** The columns of a prepared statement's rows. */
interface Columns {
  readonly names: readonly string[]
  readonly parsers: readonly ((text: string) => unknown)[]
  /** A row of nulls: rows are copies of it, so that they all have one shape. */
  readonly blank: Readonly<Record<string, unknown>>
}

const NO_COLUMNS: Columns = { names: [], parsers: [], blank: {} }

/** What this module knows of a connection. */
interface Session {
  /** The prepared statements, by name. */
  readonly prepared: Map<string, Columns>
  isBusy: boolean
  /** Sends the batches that wait for the one under way. */
  readonly waiting: (() => void)[]
}

const sessions = new WeakMap<PoolClient, Session>()

function sessionOf(client: PoolClient): Session {
  const known = sessions.get(client)
  if (known !== undefined) return known
  const session: Session = { prepared: new Map(), isBusy: false, waiting: [] }
  sessions.set(client, session)
  return session
}

/** Number of prepared statements of the connection. */
export function preparedStatements(client: PoolClient): number {
  return sessionOf(client).prepared.size
}

/**
 * Sends the statements in one write to the socket, as one pipeline of the extended query protocol with one Sync: the statements
 * after a failed one are not executed. Outside of BEGIN and COMMIT they are one transaction, which Sync commits. A batch that is
 * begun while another one is under way on the connection is sent after it. Never rejects.
 */
export function sendBatch(client: PoolClient, statements: readonly Statement[]): Promise<BatchOutcome> {
  const session = sessionOf(client)
  return new Promise(resolve => {
    const settle = (outcome: BatchOutcome) => {
      session.isBusy = false
      session.waiting.shift()?.()
      resolve(outcome)
    }
    const send = () => {
      session.isBusy = true
      try {
        client.query(new StatementBatch(statements, session.prepared, settle))
      } catch (failure) {
        settle({ results: [], failure })
      }
    }
    if (session.isBusy) session.waiting.push(send)
    else send()
  })
}

/**
 * A query of the client that consists of several statements. The client for Postgres takes any object with `submit` for a query and
 * calls the other methods as the answers arrive, as for its cursors.
 */
class StatementBatch implements Submittable {
  readonly #statements: readonly Statement[]
  readonly #values: (string | Buffer | null)[][]
  readonly #prepared: Map<string, Columns>
  readonly #resolve: (outcome: BatchOutcome) => void
  readonly #results: QueryResult<never>[] = []
  #rows: Record<string, unknown>[] = []
  /** The error of a value that could not be parsed, in the statement with this place. */
  #unreadable: { readonly place: number; readonly error: unknown } | null = null

  /** Throws when a value cannot be sent. */
  constructor(
    statements: readonly Statement[],
    prepared: Map<string, Columns>,
    resolve: (outcome: BatchOutcome) => void,
  ) {
    this.#statements = statements
    this.#values = statements.map(({ values }) => values.map(wireValue))
    this.#prepared = prepared
    this.#resolve = resolve
  }

  submit({ stream }: Connection): void {
    const parsed = new Set<string>()
    const messages: Buffer[] = []
    for (const [place, { name, text }] of this.#statements.entries()) {
      if (!this.#prepared.has(name) && !parsed.has(name)) {
        // It may exist: a batch that failed does not say how many of its statements were parsed.
        messages.push(serialize.close({ type: 'S', name }), serialize.parse({ name, text }))
        messages.push(serialize.describe({ type: 'S', name }))
        parsed.add(name)
      }
      messages.push(serialize.bind({ statement: name, values: this.#values[place]! }), serialize.execute())
    }
    messages.push(serialize.sync())
    // On a closed one the client reports the loss of the connection.
    if (stream.writable) stream.write(Buffer.concat(messages))
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#prepared.set(this.#current.name, {
      names: fields.map(({ name }) => name),
      parsers: fields.map(
        ({ dataTypeID }) => valueParsers.getTypeParser(dataTypeID, 'text') as (text: string) => unknown,
      ),
      blank: Object.fromEntries(fields.map(({ name }) => [name, null])),
    })
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#unreadable !== null) return
    try {
      const { names, parsers, blank } = this.#prepared.get(this.#current.name)!
      const row: Record<string, unknown> = { ...blank }
      for (let place = 0; place < names.length; place++) {
        const value = fields[place]!
        if (value !== null) row[names[place]!] = parsers[place]!(value)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#unreadable = { place: this.#results.length, error }
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const { name } = this.#current
    if (!this.#prepared.has(name)) this.#prepared.set(name, NO_COLUMNS)
    this.#results.push(resultOf(text, this.#rows as never[]))
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleError(failure: unknown): void {
    this.#resolve({ results: this.#results, failure })
  }

  handleReadyForQuery(): void {
    if (this.#unreadable === null) return this.#resolve({ results: this.#results, failure: undefined })
    const { place, error } = this.#unreadable
    this.#resolve({ results: this.#results.slice(0, place), failure: error })
  }

  get #current(): Statement {
    return this.#statements[this.#results.length]!
  }
}

const AFFECTED = / (\d+)$/

/** `tag`: the command tag of Postgres, such as `SELECT 3` or `INSERT 0 1`. */
function resultOf(tag: string, rows: never[]): QueryResult<never> {
  const affected = tag.startsWith('SELECT') ? null : AFFECTED.exec(tag)
  return affected === null ? { rows } : { rows, numAffectedRows: BigInt(affected[1]!) }
}
