import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { AGENT_TABS, type AgentTab } from '../routes.ts'
import { Badge, Empty, Fault, Loading, PageHead } from '../ui/parts.tsx'
import { Chat } from './chat.tsx'
import { FlowEditor } from './flow-editor.tsx'
import { ForeignChanges } from './foreign-changes.tsx'
import { PublishDialog } from './publish-dialog.tsx'
import { ServicesTab } from './services/services-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { Talk } from './talk.tsx'
import { type OpenDraft, useDraft } from './use-draft.ts'
import { VersionsTab } from './versions-tab.tsx'
import '../styles/agent.css'

/** The tabs that edit the open draft. */
const EDITED: ReadonlySet<AgentTab> = new Set(['flow', 'services', 'settings'])

/** One agent: its draft as a graph and as settings, conversations with it, its versions. */
export function AgentPage({ agentId, tab }: { readonly agentId: string; readonly tab: AgentTab }) {
  const api = useApi()
  const { text } = useTexts()
  const state = useDraft(agentId)
  const [isPublishing, setPublishing] = useState(false)
  const agent = useQuery({
    queryKey: ['agents.get', agentId],
    queryFn: ({ signal }) => api.agents.get({ params: { agent_id: agentId } }, { signal }),
  })
  if (agent.isPending) return <Loading />
  if (agent.isError) return <Fault error={agent.error} />
  const { head } = agent.data
  const open = state.kind === 'open' ? state.open : null
  return (
    <>
      <PageHead
        title={agent.data.name}
        lead={
          <>
            <span className="code">{agentId}</span> ·{' '}
            {head === null ? text('agent.notPublished') : text('agent.head', { version: head.version })}
            {open !== null && ` · ${text('agent.revision', { revision: open.draft.revision })}`}
          </>
        }
      >
        {open !== null && <SaveState open={open} />}
        {open !== null && (
          <button type="button" className="button primary" onClick={() => setPublishing(true)}>
            {text('publish.open')}
          </button>
        )}
      </PageHead>
      <Tabs agentId={agentId} current={tab} />
      {open?.foreign != null && <ForeignChanges open={open} />}
      {open?.fault != null && <Fault error={open.fault} />}
      {tab === 'versions' && <VersionsTab agentId={agentId} headVersion={head?.version ?? null} />}
      {tab === 'chat' && (
        <div className="stack">
          <Talk agent={agent.data} draft={open?.draft ?? null} />
          <Chat agent={agent.data} draft={open?.draft ?? null} />
        </div>
      )}
      {EDITED.has(tab) && state.kind === 'loading' && <Loading />}
      {EDITED.has(tab) && state.kind === 'fault' && <Fault error={state.error} />}
      {EDITED.has(tab) && state.kind === 'none' && <NoDraft agentId={agentId} />}
      {tab === 'flow' && open !== null && <FlowEditor open={open} />}
      {tab === 'services' && open !== null && <ServicesTab open={open} />}
      {tab === 'settings' && open !== null && <SettingsTab open={open} />}
      {isPublishing && open !== null && (
        <PublishDialog
          agentId={agentId}
          open={open}
          headVersion={head?.version ?? null}
          onClose={() => setPublishing(false)}
        />
      )}
    </>
  )
}

function SaveState({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const errors = open.diagnostics.filter(({ severity }) => severity === 'error').length
  return (
    <span className="badges" role="status">
      {open.isSaving && <Badge tone="live">{text('agent.saving')}</Badge>}
      {errors > 0 && <Badge tone="bad">{text('agent.errors', { count: errors })}</Badge>}
      {errors === 0 && <Badge tone="good">{text('agent.valid')}</Badge>}
    </span>
  )
}

function NoDraft({ agentId }: { readonly agentId: string }) {
  const api = useApi()
  const { text } = useTexts()
  const queries = useQueryClient()
  const opening = useMutation({
    mutationFn: () => api.drafts.open({ params: { agent_id: agentId }, body: {} }),
    onSuccess: draft => {
      queries.setQueryData(['drafts.get', agentId], draft)
      return queries.invalidateQueries({ queryKey: ['drafts.get', agentId] })
    },
  })
  return (
    <Empty>
      {text('agent.noDraft')}{' '}
      <button type="button" className="button" disabled={opening.isPending} onClick={() => opening.mutate()}>
        {text('agent.openDraft')}
      </button>
      {opening.isError && <Fault error={opening.error} />}
    </Empty>
  )
}

function Tabs({ agentId, current }: { readonly agentId: string; readonly current: AgentTab }) {
  const { text } = useTexts()
  const tabs = useRef<HTMLElement>(null)
  // Narrow screens show some of the tabs.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is the current one
  useEffect(() => {
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return (
    <nav className="tabs" aria-label={text('agent.parts')} ref={tabs}>
      {AGENT_TABS.map(name => (
        <Link key={name} to={{ page: 'agent', agentId, tab: name }} current={name === current} className="tab">
          {text(`tab.${name}`)}
        </Link>
      ))}
    </nav>
  )
}
