import type { ResultFrom } from '@parley/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'

type Publication = ResultFrom<'publications.list'>['items'][number]

/** The published versions; any but a test version can become the live one. */
export function VersionsTab({
  agentId,
  headVersion,
}: {
  readonly agentId: string
  readonly headVersion: number | null
}) {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const queries = useQueryClient()
  const setHead = useMutation({
    mutationFn: (version: number) =>
      api.publications.setHead({ params: { agent_id: agentId }, body: { version, expected_version: headVersion } }),
    onSuccess: () => queries.invalidateQueries(),
  })
  const columns: readonly Column<Publication>[] = [
    {
      header: text('version.version'),
      cell: ({ ref, is_head, test }) => (
        <span className="badges">
          <strong>{ref.version}</strong>
          {is_head && <Badge tone="good">{text('version.live')}</Badge>}
          {test && <Badge tone="neutral">{text('run.test')}</Badge>}
        </span>
      ),
    },
    {
      header: text('version.published'),
      cell: ({ published_at }) => <time dateTime={published_at}>{dateTime(published_at)}</time>,
    },
    { header: text('version.source'), cell: ({ source_kind }) => word('source', source_kind) },
    {
      header: text('agents.channels'),
      cell: ({ channels }) => channels.map(channel => word('channel', channel)).join(', '),
    },
    { header: text('version.digest'), cell: ({ ref }) => <span className="code">{ref.digest.slice(7, 19)}</span> },
    {
      header: text('version.action'),
      cell: ({ ref, is_head, test }) =>
        is_head || test ? (
          '–'
        ) : (
          <button
            type="button"
            className="button small"
            disabled={setHead.isPending}
            onClick={() => setHead.mutate(ref.version)}
          >
            {text('version.makeLive')}
          </button>
        ),
    },
  ]
  return (
    <>
      {setHead.isError && <Fault error={setHead.error} />}
      <PagedTable
        caption={text('tab.versions')}
        columns={columns}
        keyOf={({ ref }) => String(ref.version)}
        queryKey={['publications.list', agentId]}
        load={async (cursor, signal) => {
          const page = await api.publications.list({ params: { agent_id: agentId }, query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('agent.notPublished')}
      />
    </>
  )
}
