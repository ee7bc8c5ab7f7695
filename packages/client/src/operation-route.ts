/** The properties of an operation that a client needs. */
export interface OperationRoute {
  /** Resource and verb, such as `agents.create`. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `{name}` is a member of `params`. */
  readonly path: string
  /** Whether the header Idempotency-Key is required. */
  readonly keyed: boolean
  /** Whether a repetition has no further effect. */
  readonly repeatable: boolean
  readonly takesQuery: boolean
  readonly takesBody: boolean
  /** The member of the response with the rows of a page; null: the response is not a page. */
  readonly rows: string | null
}
