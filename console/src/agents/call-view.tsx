import type { AgentCall } from '@parley/web'
import { type FormEvent, useEffect, useReducer, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { Icon } from '../shell/icon.tsx'
import { Badge } from '../ui/parts.tsx'
import type { VoiceCall } from './use-voice-call.ts'
import '../styles/agent.css'
import '../styles/live.css'

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

/** A call by the microphone of the browser: its state, what is said, and its buttons. */
export function CallView({ runId, call: current }: VoiceCall) {
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
