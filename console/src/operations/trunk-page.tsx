import { useTexts } from '../i18n/i18n.tsx'
import { Badge, Empty, Facts, Fault, Loading, PageHead, Section } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { PING_TONES, useTrunk } from './trunk-summary.tsx'

/** One trunk: where it leads, and how its calls of the last hour went. */
export function TrunkPage({ trunkId }: { readonly trunkId: string }) {
  const { text, word, number, dateTime, shortTime } = useTexts()
  const trunk = useTrunk(trunkId)
  if (trunk.isPending) return <Loading />
  if (trunk.isError) return <Fault error={trunk.error} />
  const { health } = trunk.data
  const percent = (share: number | null) =>
    share === null ? '–' : number(share, { style: 'percent', maximumFractionDigits: 1 })
  const at = (time: string | null) => (time === null ? '–' : dateTime(time))
  return (
    <>
      <PageHead title={trunk.data.name} lead={<span className="code">{trunkId}</span>} />
      <div className="stack">
        <Section title={text('trunk.settings')}>
          <Facts
            rows={[
              [text('trunk.address'), trunk.data.termination_uri],
              [text('trunk.username'), trunk.data.auth_username],
              [
                text('trunk.secret'),
                trunk.data.auth_secret === null
                  ? null
                  : `${trunk.data.auth_secret.id}@${trunk.data.auth_secret.version}`,
              ],
              [text('trunk.inboundUri'), trunk.data.inbound_sip_uri],
            ]}
          />
        </Section>
        <div className="columns">
          {(['outbound', 'inbound'] as const).map(direction => (
            <Section key={direction} title={`${word('mode', direction)} · ${text('trunk.lastHour')}`}>
              <Facts
                rows={[
                  [text('trunk.calls'), number(health[direction].calls)],
                  [text('trunk.answeredCalls'), number(health[direction].answered)],
                  [text('trunk.asr'), percent(health[direction].asr)],
                  [text('trunk.acd'), shortTime(health[direction].acd_ms)],
                  [
                    text('trunk.pdd'),
                    direction === 'inbound' || health.outbound.post_dial_delay_ms === null
                      ? null
                      : `${shortTime(health.outbound.post_dial_delay_ms.p50)} · p95 ${shortTime(health.outbound.post_dial_delay_ms.p95)}`,
                  ],
                  [
                    text('trunk.failures'),
                    health[direction].failures
                      .map(({ sip_status, calls }) => `${sip_status ?? '–'} × ${calls}`)
                      .join(', ') || null,
                  ],
                ]}
              />
            </Section>
          ))}
        </div>
        <Section title={text('trunk.reachability')}>
          <Facts
            rows={[
              [text('trunk.lastSuccess'), at(health.last_success_at)],
              [text('trunk.lastFailure'), at(health.last_failure_at)],
              [
                text('trunk.registration'),
                health.registration === null
                  ? null
                  : `${word('registration', health.registration.state)} · ${health.registration.detail}`,
              ],
            ]}
          />
          {health.ping === null ? (
            <Empty>{text('trunk.noPing')}</Empty>
          ) : (
            <>
              <p className="spaced">
                <Badge tone={PING_TONES[health.ping.state]}>{word('ping', health.ping.state)}</Badge>{' '}
                <span className="hint">{at(health.ping.checked_at)}</span>
              </p>
              <Table
                caption={text('trunk.reachability')}
                rows={health.ping.targets}
                keyOf={target => `${target.transport} ${target.address} ${target.port}`}
                columns={[
                  {
                    header: text('trunk.target'),
                    cell: target => (
                      <span className="code">{`${target.transport} ${target.address}:${target.port}`}</span>
                    ),
                  },
                  { header: text('run.sipStatus'), cell: target => target.sip_status ?? target.error ?? '–' },
                  { header: text('trunk.roundTrip'), cell: target => shortTime(target.round_trip_ms), isNumber: true },
                ]}
              />
            </>
          )}
        </Section>
      </div>
    </>
  )
}
