import type { ResultFrom } from '@parley/client'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { VersionDialog } from '../release/version-dialog.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'

type Publication = ResultFrom<'publications.list'>['items'][number]

/** The published versions with the evidence of their release gates; any but a test version can become the live one. */
export function VersionsTab({
  agentId,
  headVersion,
}: {
  readonly agentId: string
  readonly headVersion: number | null
}) {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const [opened, setOpened] = useState<Publication | null>(null)
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
      cell: publication => (
        <button type="button" className="button small" onClick={() => setOpened(publication)}>
          {text(publication.is_head || publication.test ? 'gate.show' : 'version.makeLive')}
        </button>
      ),
    },
  ]
  return (
    <>
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
      {opened !== null && (
        <VersionDialog
          agentId={agentId}
          version={opened.ref.version}
          headVersion={headVersion}
          canBeLive={!opened.test}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  )
}
