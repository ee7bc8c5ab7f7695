import type { QueryResult } from 'kysely'
import pg, { type PoolClient } from 'pg'
import { valueParsers } from './value-parsers.ts'

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

interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}

/** The columns of the prepared statements of each connection, by name. */
const preparedOn = new WeakMap<PoolClient, Map<string, readonly Column[]>>()

/** Number of prepared statements of the connection. */
export function preparedStatements(client: PoolClient): number {
  return preparedOn.get(client)?.size ?? 0
}

/**
 * Sends the statements in one write to the socket, as one pipeline of the extended query protocol with one Sync: the statements
 * after a failed one are not executed. Outside of BEGIN and COMMIT they are one transaction, which Sync commits. Never rejects.
 */
export function sendBatch(client: PoolClient, statements: readonly Statement[]): Promise<BatchOutcome> {
  const prepared = preparedOn.get(client) ?? new Map<string, readonly Column[]>()
  preparedOn.set(client, prepared)
  return new Promise(resolve => {
    try {
      const batch = new StatementBatch(statements, prepared, resolve)
      client.query(batch as unknown as pg.Query)
    } catch (failure) {
      resolve({ results: [], failure })
    }
  })
}

/** The messages to Postgres; missing in the type definitions of pg. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  close(statement: { type: 'S'; name: string }): void
  parse(statement: { name: string; text: string }): void
  describe(statement: { type: 'S'; name: string }): void
  bind(portal: { statement: string; values: readonly unknown[] }): void
  execute(): void
  sync(): void
}

/** How the client writes values as text or bytes; missing in the type definitions of pg. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils

/** A pipelining client accepts subclasses of its own queries only. Its constructor wants a text, which is not sent. */
const ClientQuery = pg.Query as unknown as new (config: { readonly text: string }) => object

/** A query of the client that consists of several statements; the client calls its methods as the answers arrive. */
class StatementBatch extends ClientQuery {
  readonly #statements: readonly Statement[]
  readonly #values: readonly (readonly unknown[])[]
  readonly #prepared: Map<string, readonly Column[]>
  readonly #resolve: (outcome: BatchOutcome) => void
  readonly #results: QueryResult<never>[] = []
  #rows: Record<string, unknown>[] = []
  /** The error of a value that could not be parsed, in the statement with this place. */
  #unreadable: { readonly place: number; readonly error: unknown } | null = null

  /** Throws when a value cannot be sent. */
  constructor(
    statements: readonly Statement[],
    prepared: Map<string, readonly Column[]>,
    resolve: (outcome: BatchOutcome) => void,
  ) {
    super({ text: '' })
    this.#statements = statements
    this.#values = statements.map(({ values }) => values.map(value => prepareValue(value)))
    this.#prepared = prepared
    this.#resolve = resolve
  }

  submit(wire: Wire): null {
    const parsed = new Set<string>()
    wire.stream.cork()
    for (const [place, { name, text }] of this.#statements.entries()) {
      if (!this.#prepared.has(name) && !parsed.has(name)) {
        // It may exist: a batch that failed does not say how many of its statements were parsed.
        wire.close({ type: 'S', name })
        wire.parse({ name, text })
        wire.describe({ type: 'S', name })
        parsed.add(name)
      }
      wire.bind({ statement: name, values: this.#values[place]! })
      wire.execute()
    }
    wire.sync()
    wire.stream.uncork()
    return null
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: valueParsers.getTypeParser(dataTypeID, 'text') as Column['parse'],
    }))
    this.#prepared.set(this.#current.name, columns)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#unreadable !== null) return
    try {
      const row: Record<string, unknown> = {}
      const columns = this.#prepared.get(this.#current.name)!
      for (let place = 0; place < columns.length; place++) {
        const { name, parse } = columns[place]!
        const value = fields[place]!
        row[name] = value === null ? null : parse(value)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#unreadable = { place: this.#results.length, error }
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const { name } = this.#current
    if (!this.#prepared.has(name)) this.#prepared.set(name, [])
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
