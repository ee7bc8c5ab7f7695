import type { ResultFrom } from '@parley/client'
import { lazy, Suspense, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { useAgentNames } from './use-agent-names.ts'

const CallDialog = lazy(async () => ({ default: (await import('../agents/call-dialog.tsx')).CallDialog }))

type Agent = ResultFrom<'agents.list'>['agents'][number]

/** A workspace with more agents on the phone has no buttons for them here. */
const MOST_BUTTONS = 2

/** Buttons that call the agents of a small workspace by the microphone of the browser. */
export function CallAgentButtons() {
  const { text } = useTexts()
  const { data } = useAgentNames()
  const [called, setCalled] = useState<Agent | null>(null)
  const callable = data?.agents.filter(({ head }) => head?.channels.includes('phone')) ?? []
  if (callable.length > MOST_BUTTONS) return null
  return (
    <>
      {callable.map((agent, index) => (
        <button
          key={agent.ref.id}
          type="button"
          className={index === 0 ? 'button primary' : 'button'}
          onClick={() => setCalled(agent)}
        >
          <Icon name="microphone" size={16} />
          {text('call.agent', { agent: agent.name })}
        </button>
      ))}
      {called !== null && (
        <Suspense>
          <CallDialog agent={called} onClose={() => setCalled(null)} />
        </Suspense>
      )}
    </>
  )
}
