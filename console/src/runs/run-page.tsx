import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { Icon } from '../shell/icon.tsx'
import { Fault, Loading, PageHead } from '../ui/parts.tsx'
import { AnalysisCard } from './analysis-card.tsx'
import { callTimeline, type TimelineItem } from './call-timeline.ts'
import { EffectsCard } from './effects-card.tsx'
import { LadderCard } from './ladder-card.tsx'
import { LatencyCard } from './latency-card.tsx'
import { Player, usePlayer } from './player.tsx'
import { ReplayButton } from './replay-button.tsx'
import { RunFacts } from './run-facts.tsx'
import { ChannelIcon, farEnd, isEnded, type Run, StateBadge } from './run-words.tsx'
import { TimelineCard } from './timeline-card.tsx'
import { TranscriptCard } from './transcript-card.tsx'
import '../styles/run.css'
import { AgentName } from './agent-name.tsx'

/** How often a run that has not ended is read again, in ms. */
const REFRESH_MS = 2000

/** Everything about one run, on one time axis. */
export function RunPage({ runId }: { readonly runId: string }) {
  const api = useApi()
  const run = useQuery({
    queryKey: ['runs.get', runId],
    queryFn: ({ signal }) => api.runs.get({ params: { run_id: runId } }, { signal }),
    refetchInterval: query => (query.state.data !== undefined && isEnded(query.state.data) ? false : REFRESH_MS),
  })
  if (run.isPending) return <Loading />
  if (run.isError) return <Fault error={run.error} />
  return <RunView run={run.data} />
}

function RunView({ run }: { readonly run: Run }) {
  const { text, word } = useTexts()
  const items = useTimeline(run)
  const timeline = useMemo(() => callTimeline(items.data ?? []), [items.data])
  const player = usePlayer(run, timeline.endMs)
  return (
    <>
      <PageHead
        title={
          <span className="run-title">
            <ChannelIcon run={run} />
            {farEnd(run) ?? word('mode', run.mode)}
            <StateBadge run={run} />
          </span>
        }
        lead={
          <>
            <Link to={{ page: 'agent', agentId: run.agent_id, tab: 'flow' }}>
              <AgentName agentId={run.agent_id} />
            </Link>{' '}
            {text('run.versionOf', { version: run.publication.version })} · <span className="code">{run.run_id}</span>
          </>
        }
      >
        <ReplayButton run={run} />
        <HangUp run={run} />
      </PageHead>
      <div className="stack">
        <RunFacts run={run} />
        {run.channel !== 'cloud' && <Player player={player} timeline={timeline} />}
        {items.isError && <Fault error={items.error} />}
        <div className="run-columns">
          <TranscriptCard turns={timeline.turns} player={player} isLoading={items.isPending} />
          <div className="stack">
            <LatencyCard turns={timeline.turns} />
            <AnalysisCard run={run} />
          </div>
        </div>
        <EffectsCard run={run} />
        {run.channel === 'phone' && <LadderCard run={run} />}
        <TimelineCard items={items.data ?? []} />
      </div>
    </>
  )
}

/** All items of the timeline; again and again while the run lives. */
function useTimeline(run: Run) {
  const api = useApi()
  return useQuery({
    queryKey: ['runs.timeline', run.run_id, run.state],
    queryFn: async ({ signal }) => {
      const items: TimelineItem[] = []
      const request = { params: { run_id: run.run_id }, query: { limit: 200 } }
      for await (const item of api.runs.timeline.all(request, { signal })) items.push(item)
      return items
    },
    placeholderData: previous => previous,
    refetchInterval: isEnded(run) ? false : REFRESH_MS,
  })
}

/** Ends a run that has not ended. */
function HangUp({ run }: { readonly run: Pick<Run, 'run_id' | 'state' | 'channel'> }) {
  const api = useApi()
  const { text } = useTexts()
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => api.runs.cancel({ params: { run_id: run.run_id }, body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['runs.get', run.run_id] }),
  })
  if (isEnded(run)) return null
  return (
    <>
      <button type="button" className="button danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
        <Icon name="hangUp" />
        {text(run.channel === 'cloud' ? 'run.cancel' : 'run.hangUp')}
      </button>
      {cancel.isError && <Fault error={cancel.error} />}
    </>
  )
}
