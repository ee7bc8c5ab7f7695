import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { STAGES } from '../runs/latency-stages.ts'
import { ChannelIcon, farEnd, isEnded, type Run, StateBadge } from '../runs/run-words.tsx'
import { Icon } from '../shell/icon.tsx'
import { clock } from '../ui/duration.ts'
import { Badge, Empty, Fault, Loading, PageHead } from '../ui/parts.tsx'
import { ListenButton } from './listen.tsx'
import { followedRuns, liveCall } from './live-call.ts'
import { useRunEvents } from './use-run-events.ts'
import '../styles/run.css'
import '../styles/live.css'
import { AgentName } from '../runs/agent-name.tsx'

const FOLLOWED = 3
const REFRESH_MS = 2000
const LIVE_STATES = ['running', 'ending', 'admitted'] as const

/** The calls of this moment: three are followed word by word, the others are listed. */
export function LivePage() {
  const api = useApi()
  const { text } = useTexts()
  const live = useQuery({
    queryKey: ['runs.list', 'live'],
    queryFn: async ({ signal }) => {
      const lists = LIVE_STATES.map(state => api.runs.list({ query: { state, limit: 200 } }, { signal }))
      return (await Promise.all(lists)).flatMap(({ items }) => items)
    },
    refetchInterval: REFRESH_MS,
  })
  const known = useRef(new Map<string, Run>())
  const [followed, setFollowed] = useState<readonly string[]>([])
  const runs = live.data
  useEffect(() => {
    if (runs === undefined) return
    for (const run of runs) known.current.set(run.run_id, run)
    setFollowed(before =>
      followedRuns(
        before,
        runs.map(run => run.run_id),
        FOLLOWED,
      ),
    )
  }, [runs])
  if (live.isPending) return <Loading />
  if (live.isError) return <Fault error={live.error} />
  const others = live.data.filter(run => !followed.includes(run.run_id))
  return (
    <>
      <PageHead title={text('nav.live')} lead={text('live.lead', { count: live.data.length })} />
      {followed.length === 0 && <Empty>{text('live.empty')}</Empty>}
      <div className="live-calls">
        {followed.map(id => {
          const run = live.data.find(({ run_id }) => run_id === id) ?? known.current.get(id)
          if (run === undefined) return null
          const close = () => setFollowed(followed.filter(other => other !== id))
          return <CallPanel key={id} run={run} onClose={close} />
        })}
      </div>
      {others.length > 0 && (
        <ul className="live-others" aria-label={text('live.others')}>
          {others.map(run => (
            <li key={run.run_id}>
              <button
                type="button"
                className="button"
                onClick={() => setFollowed([run.run_id, ...followed].slice(0, FOLLOWED))}
              >
                <ChannelIcon run={run} />
                {farEnd(run) ?? <AgentName agentId={run.agent_id} />}
                <StateBadge run={run} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function CallPanel({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const { text, word, shortTime } = useTexts()
  const { items, fault } = useRunEvents(run.run_id)
  const call = liveCall(items)
  const state = call.state ?? run
  const hasEnded = isEnded(state)
  return (
    <article className="card live-call" aria-label={farEnd(run) ?? run.run_id}>
      <header>
        <ChannelIcon run={run} />
        <div className="live-with">
          <strong>{farEnd(run) ?? word('mode', run.mode)}</strong>
          <span className="hint">
            <AgentName agentId={run.agent_id} />
          </span>
        </div>
        <StateBadge run={{ state: state.state, phone_state: state.phone_state }} />
        {hasEnded ? (
          <button type="button" className="button quiet icon-only" aria-label={text('action.close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        ) : (
          <Elapsed since={run.started_at ?? run.created_at} />
        )}
      </header>
      <TurnLog call={call} />
      {fault !== null && <Fault error={fault} />}
      <footer>
        <span className="live-now">
          {call.nodeId !== null && <span className="code">{call.nodeId}</span>}
          {call.action !== null && <Badge tone="warn">{call.action}</Badge>}
          {call.keys !== '' && <kbd>{call.keys}</kbd>}
        </span>
        {call.latency !== null && (
          <span
            className="live-latency"
            title={STAGES.map(stage => `${text(`latency.${stage}`)} ${shortTime(call.latency![stage])}`).join('\n')}
          >
            {shortTime(call.latency.e2e)}
          </span>
        )}
        <Link to={{ page: 'run', runId: run.run_id }} className="button small">
          {text('live.open')}
        </Link>
        {!hasEnded && run.channel !== 'cloud' && <ListenButton run={run} />}
        {!hasEnded && <HangUpButton run={run} />}
      </footer>
    </article>
  )
}

function TurnLog({ call }: { readonly call: ReturnType<typeof liveCall> }) {
  const { text } = useTexts()
  const log = useRef<HTMLOListElement>(null)
  const count = call.turns.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn scrolls the log
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [count])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <ol className="live-turns" ref={log} aria-live="polite" tabIndex={0} aria-label={text('transcript.title')}>
      {count === 0 && <li className="hint">{text('live.noTurns')}</li>}
      {call.turns.map(turn => (
        <li key={turn.index} className={turn.role}>
          <span className="hidden">{text(turn.role === 'agent' ? 'lane.agent.name' : 'lane.caller.name')}: </span>
          {turn.text}
          {turn.interrupted && <span className="cut"> ✕</span>}
        </li>
      ))}
    </ol>
  )
}

function HangUpButton({ run }: { readonly run: Run }) {
  const api = useApi()
  const { text } = useTexts()
  const cancel = useMutation({ mutationFn: () => api.runs.cancel({ params: { run_id: run.run_id }, body: {} }) })
  return (
    <>
      <button
        type="button"
        className="button small danger"
        disabled={cancel.isPending || cancel.isSuccess}
        onClick={() => cancel.mutate()}
      >
        <Icon name="hangUp" size={16} />
        {text(run.channel === 'cloud' ? 'run.cancel' : 'run.hangUp')}
      </button>
      {cancel.isError && <Fault error={cancel.error} />}
    </>
  )
}

function Elapsed({ since }: { readonly since: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return <span className="player-clock">{clock(Math.max(0, now - Date.parse(since)))}</span>
}
