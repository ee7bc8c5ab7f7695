import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Badge, type Tone } from '../ui/parts.tsx'

type Ping = NonNullable<ResultFrom<'trunks.get'>['health']['ping']>

export const PING_TONES: Readonly<Record<Ping['state'], Tone>> = {
  reachable: 'good',
  partly_reachable: 'warn',
  unreachable: 'bad',
}

export function useTrunk(trunkId: string) {
  const api = useApi()
  return useQuery({
    queryKey: ['trunks.get', trunkId],
    queryFn: ({ signal }) => api.trunks.get({ params: { trunk_id: trunkId } }, { signal }),
    refetchInterval: 15_000,
  })
}

/** Whether the trunk answers, and the share of its calls that were answered in the last hour. */
export function TrunkSummary({ trunkId }: { readonly trunkId: string }) {
  const { text, word, number } = useTexts()
  const trunk = useTrunk(trunkId)
  if (trunk.data === undefined) return '…'
  const { ping, outbound, registration } = trunk.data.health
  return (
    <span className="badges">
      {ping !== null && <Badge tone={PING_TONES[ping.state]}>{word('ping', ping.state)}</Badge>}
      {registration !== null && (
        <Badge tone={registration.state === 'registered' ? 'good' : 'warn'}>
          {word('registration', registration.state)}
        </Badge>
      )}
      {outbound.asr !== null && (
        <span className="hint">
          {text('trunk.answered', { share: number(outbound.asr, { style: 'percent' }), calls: number(outbound.calls) })}
        </span>
      )}
      {ping === null && registration === null && outbound.asr === null && (
        <span className="hint">{text('trunk.noCalls')}</span>
      )}
    </span>
  )
}
