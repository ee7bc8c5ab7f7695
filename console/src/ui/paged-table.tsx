import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Empty, Fault, Loading } from './parts.tsx'
import { type Column, Table } from './table.tsx'

interface Page<Row> {
  readonly rows: readonly Row[]
  readonly next: string | null
}

interface PagedTableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  /** Identifies the list and its filters. */
  readonly queryKey: readonly unknown[]
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>
  readonly empty: ReactNode
  /** Requests the list again after this time, in ms. Default: never. */
  readonly refreshMs?: number
}

/** A list of the API, page by page, by its cursors. */
export function PagedTable<Row>({ caption, columns, keyOf, queryKey, load, empty, refreshMs }: PagedTableProps<Row>) {
  const { text } = useTexts()
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next ?? undefined,
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  })
  if (list.isPending) return <Loading />
  if (list.isError) return <Fault error={list.error} />
  const rows = list.data.pages.flatMap(page => page.rows)
  if (rows.length === 0) return <Empty>{empty}</Empty>
  return (
    <>
      <Table caption={caption} columns={columns} rows={rows} keyOf={keyOf} />
      {list.hasNextPage && (
        <button
          type="button"
          className="button more"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {text('action.more')}
        </button>
      )}
    </>
  )
}
