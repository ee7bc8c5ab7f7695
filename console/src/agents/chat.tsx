import type { ResultFrom } from '@parley/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { liveCall } from '../live/live-call.ts'
import { useRunEvents } from '../live/use-run-events.ts'
import { Link } from '../router.tsx'
import { isEnded } from '../runs/run-words.tsx'
import { Icon } from '../shell/icon.tsx'
import { Badge, Fault, Section } from '../ui/parts.tsx'
import type { Draft } from './flow-graph.ts'
import { type Partner, useTestVersion } from './use-test-version.ts'
import '../styles/live.css'

interface ChatProps {
  readonly agent: ResultFrom<'agents.get'>
  readonly draft: Draft | null
}

/** A conversation in writing with the live version, or with the draft, which is published as a test first. */
export function Chat({ agent, draft }: ChatProps) {
  const api = useApi()
  const { text } = useTexts()
  const agentId = agent.ref.id
  const versionOf = useTestVersion(agentId, draft)
  const [runId, setRun] = useState<string | null>(null)
  const start = useMutation({
    mutationFn: async (partner: Partner) => {
      const version = await versionOf(partner)
      const run = await api.runs.create({
        body: { agent_id: agentId, channel: 'cloud', mode: 'chat', ...(version !== undefined && { version }) },
      })
      return run.run_id
    },
    onSuccess: setRun,
  })
  return (
    <Section
      title={text('chat.title')}
      actions={
        <div className="page-actions">
          <button
            type="button"
            className="button"
            disabled={start.isPending || draft === null}
            onClick={() => start.mutate('draft')}
          >
            {text('chat.withDraft')}
          </button>
          <button
            type="button"
            className="button"
            disabled={start.isPending || agent.head === null}
            onClick={() => start.mutate('head')}
          >
            {text('chat.withHead')}
          </button>
        </div>
      }
    >
      <p className="hint">{text('chat.hint')}</p>
      {start.isError && <Fault error={start.error} />}
      {runId !== null && <Conversation key={runId} runId={runId} />}
    </Section>
  )
}

function Conversation({ runId }: { readonly runId: string }) {
  const api = useApi()
  const { text, word } = useTexts()
  const { items, fault } = useRunEvents(runId)
  const call = liveCall(items)
  const hasEnded = call.state !== null && isEnded(call.state)
  const send = useMutation({
    mutationFn: (words: string) =>
      api.runs.message({ params: { run_id: runId }, body: { text: words } }, { timeoutMs: 70_000 }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const words = String(new FormData(form).get('text')).trim()
    if (words === '') return
    send.mutate(words)
    form.reset()
  }
  return (
    <div className="chat">
      <div className="chat-head">
        {call.state !== null && (
          <Badge tone={hasEnded ? 'neutral' : 'live'}>{word('runState', call.state.state)}</Badge>
        )}
        {call.nodeId !== null && <span className="code hint">{call.nodeId}</span>}
        <Link to={{ page: 'run', runId }}>{text('live.open')}</Link>
      </div>
      <ol className="live-turns" aria-live="polite">
        {call.turns.map(turn => (
          <li key={turn.index} className={turn.role}>
            {turn.text}
          </li>
        ))}
        {send.isPending && <li className="hint">{text('chat.waiting')}</li>}
      </ol>
      {fault !== null && <Fault error={fault} />}
      {send.isError && <Fault error={send.error} />}
      <form className="chat-form" onSubmit={submit}>
        <input
          name="text"
          aria-label={text('chat.message')}
          placeholder={text('chat.message')}
          autoComplete="off"
          maxLength={8000}
          disabled={hasEnded}
        />
        <button type="submit" className="button primary" disabled={hasEnded || send.isPending}>
          <Icon name="send" size={16} />
          {text('chat.send')}
        </button>
      </form>
    </div>
  )
}
