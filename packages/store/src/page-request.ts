/** Which page of a list is asked for. */
export interface PageRequest {
  /** What the page before gave; null: the first page. */
  readonly cursor: string | null
  readonly limit: number
}
