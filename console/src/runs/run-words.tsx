import type { ResultFrom } from '@parley/client'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon, type IconName } from '../shell/icon.tsx'
import { Badge, type Tone } from '../ui/parts.tsx'

export type Run = ResultFrom<'runs.get'>

const TONES: Readonly<Record<Run['state'], Tone>> = {
  admitted: 'neutral',
  running: 'live',
  ending: 'live',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
  rejected: 'warn',
  expired: 'warn',
}

export function StateBadge({ run }: { readonly run: Pick<Run, 'state' | 'phone_state'> }) {
  const { word } = useTexts()
  const isLive = run.state === 'running' || run.state === 'ending'
  const shown = isLive && run.phone_state !== null ? word('phoneState', run.phone_state) : word('runState', run.state)
  return <Badge tone={TONES[run.state]}>{shown}</Badge>
}

/** The direction of a call, or the channel, as an icon with its name. */
export function ChannelIcon({ run }: { readonly run: Pick<Run, 'channel' | 'mode'> }) {
  const { word } = useTexts()
  const name: IconName = run.channel === 'cloud' ? 'text' : run.mode === 'outbound' ? 'phoneOut' : 'phoneIn'
  const label = `${word('channel', run.channel)} · ${word('mode', run.mode)}`
  return (
    <span className="channel" role="img" aria-label={label} title={label}>
      <Icon name={name} />
    </span>
  )
}

/** The party at the far end of a call; null: the run has none. */
export function farEnd(run: Pick<Run, 'mode' | 'from_number' | 'to_number'>): string | null {
  return run.mode === 'outbound' ? run.to_number : run.from_number
}

const ENDED: ReadonlySet<Run['state']> = new Set(['completed', 'failed', 'cancelled', 'rejected', 'expired'])

/** Whether the run is in a terminal state. */
export function isEnded(run: Pick<Run, 'state'>): boolean {
  return ENDED.has(run.state)
}
