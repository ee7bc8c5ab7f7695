import { useTexts } from '../i18n/i18n.tsx'
import { clock } from '../ui/duration.ts'
import { Facts } from '../ui/parts.tsx'
import type { Run } from './run-words.tsx'

/** When, with whom, how it ended, and how well it could be heard. */
export function RunFacts({ run }: { readonly run: Run }) {
  const { text, word, dateTime, number } = useTexts()
  const { outcome, quality } = run
  const ending =
    outcome === null
      ? null
      : [word('disposition', outcome.kind), outcome.detail].filter(part => part !== null).join(' · ')
  return (
    <section className="card" aria-label={text('run.facts')}>
      <Facts
        rows={[
          [text('run.started'), dateTime(run.created_at)],
          [text('run.duration'), clock(run.connected_ms)],
          [text('run.ended'), ending],
          [text('run.endedBy'), outcome === null ? null : word('endedBy', outcome.ended_by)],
          [text('run.disposition'), run.disposition === null ? null : word('disposition', run.disposition)],
          [text('run.from'), run.from_number],
          [text('run.to'), run.to_number],
          [text('filter.contact'), run.contact === null ? null : word('contact', run.contact)],
          [text('run.sipStatus'), outcome?.sip_status ?? null],
          [
            text('run.quality'),
            quality === null
              ? null
              : text('run.qualityValue', {
                  mos: number(quality.mos, { minimumFractionDigits: 1, maximumFractionDigits: 2 }),
                  loss: number(quality.loss, { style: 'percent', maximumFractionDigits: 1 }),
                  jitter: number(quality.jitter_ms, { maximumFractionDigits: 1 }),
                }),
          ],
        ]}
      />
    </section>
  )
}
