/** What a client has to know of an operation in order to ask for it. */
export interface OperationRoute {
  /** Resource and verb: `agents.create`. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `{name}` is a member of `params`. */
  readonly path: string
  /** Whether the header Idempotency-Key must come. */
  readonly keyed: boolean
  /** Whether asking twice does no more than asking once. */
  readonly repeatable: boolean
  readonly takesQuery: boolean
  readonly takesBody: boolean
  /** The member of the answer that holds the rows of a page; null: the answer is no page. */
  readonly rows: string | null
}
