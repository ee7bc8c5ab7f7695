import type { ResultFrom } from '@parley/client'
import { type AgentCall, call } from '@parley/web'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useReducer, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { Icon } from '../shell/icon.tsx'
import { Badge, Fault, Section } from '../ui/parts.tsx'
import type { Draft } from './flow-graph.ts'
import { type Partner, useTestVersion } from './use-test-version.ts'
import { accessAt, microphoneFault } from './voice-call.ts'
import '../styles/live.css'

interface TalkProps {
  readonly agent: ResultFrom<'agents.get'>
  readonly draft: Draft | null
}

interface VoiceCall {
  readonly runId: string
  readonly call: AgentCall
}

/** A call by the microphone of the browser with the live version, or with the draft, which is published as a test first. */
export function Talk({ agent, draft }: TalkProps) {
  const api = useApi()
  const { text } = useTexts()
  const agentId = agent.ref.id
  const versionOf = useTestVersion(agentId, draft)
  const [current, setCurrent] = useState<VoiceCall | null>(null)
  const [isLive, setLive] = useState(false)
  const start = useMutation({
    mutationFn: async (partner: Partner): Promise<VoiceCall> => {
      // Browsers offer the microphone to secure pages only: TLS or loopback.
      if (navigator.mediaDevices === undefined) throw new Error(text('talk.insecure'))
      const version = await versionOf(partner)
      const { run_id, web } = await api.runs.create({
        body: {
          agent_id: agentId,
          channel: 'web',
          mode: 'inbound',
          web_kind: 'direct',
          ...(version !== undefined && { version }),
        },
      })
      try {
        if (web === undefined) throw new Error(text('talk.noAccess'))
        return { runId: run_id, call: await call(accessAt(window.location.origin, web)) }
      } catch (error) {
        await api.runs.cancel({ params: { run_id }, body: {} }).catch(() => {})
        const fault = microphoneFault(error)
        throw fault === null ? error : new Error(text(fault))
      }
    },
    onSuccess: started => {
      setCurrent(started)
      setLive(true)
      started.call.on('state', state => setLive(state !== 'ended'))
    },
  })
  // A call ends with the page that shows it.
  useEffect(() => () => current?.call.hangUp(), [current])
  const isBusy = start.isPending || isLive
  return (
    <Section
      title={text('talk.title')}
      actions={
        <div className="page-actions">
          <button
            type="button"
            className="button"
            disabled={isBusy || draft === null}
            onClick={() => start.mutate('draft')}
          >
            <Icon name="microphone" size={16} />
            {text('talk.withDraft')}
          </button>
          <button
            type="button"
            className="button"
            disabled={isBusy || agent.head === null}
            onClick={() => start.mutate('head')}
          >
            <Icon name="microphone" size={16} />
            {text('talk.withHead')}
          </button>
        </div>
      }
    >
      <p className="hint">{text('talk.hint')}</p>
      {start.isPending && <p role="status">{text('talk.connecting')}</p>}
      {start.isError && <Fault error={start.error} />}
      {current !== null && <CallView key={current.runId} {...current} />}
    </Section>
  )
}

/** Renders again with every event of the call. */
function useCallEvents(current: AgentCall): void {
  const [, again] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    again()
    const stops = (['state', 'agent', 'user', 'utterance'] as const).map(name => current.on(name, again))
    return () => {
      for (const stop of stops) stop()
    }
  }, [current])
}

function CallView({ runId, call: current }: VoiceCall) {
  const { text, word } = useTexts()
  const [isMuted, setMuted] = useState(false)
  useCallEvents(current)
  const hasEnded = current.state === 'ended'
  const mute = () => {
    current.mute(!isMuted)
    setMuted(!isMuted)
  }
  return (
    <div className="chat">
      <div className="chat-head">
        <span className="badges" role="status">
          <Badge tone={hasEnded ? 'neutral' : 'live'}>{word('callState', current.state)}</Badge>
          {!hasEnded && current.agent !== null && <Badge tone="neutral">{word('agentState', current.agent)}</Badge>}
        </span>
        <Link to={{ page: 'run', runId }}>{text('live.open')}</Link>
      </div>
      <ol className="live-turns" aria-live="polite">
        {current.transcript.map(({ index, role, text: words, interrupted }) => (
          <li key={index} className={role}>
            {words}
            {interrupted && <span className="cut"> · {text('transcript.interrupted')}</span>}
          </li>
        ))}
      </ol>
      {!hasEnded && (
        <div className="talk-tools">
          <button type="button" className="button" aria-pressed={isMuted} onClick={mute}>
            {text('talk.mute')}
          </button>
          <Digits call={current} />
          <button type="button" className="button danger" onClick={() => current.hangUp()}>
            <Icon name="hangUp" />
            {text('run.hangUp')}
          </button>
        </div>
      )}
    </div>
  )
}

function Digits({ call: current }: { readonly call: AgentCall }) {
  const { text } = useTexts()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    current.sendDigits(String(new FormData(event.currentTarget).get('digits')))
    event.currentTarget.reset()
  }
  return (
    <form className="talk-digits" onSubmit={submit}>
      <input
        name="digits"
        aria-label={text('lane.digits.name')}
        placeholder={text('lane.digits.name')}
        autoComplete="off"
        inputMode="tel"
        required
        maxLength={32}
        pattern="[0-9*#A-D]+"
      />
      <button type="submit" className="button">
        {text('talk.press')}
      </button>
    </form>
  )
}
