import { useTexts } from '../i18n/i18n.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import type { TimelineItem } from './call-timeline.ts'

const COMMON = new Set(['seq', 'at', 'offset_ms', 'kind', 'text'])

/** Everything that happened, in order, as the API tells it. */
export function TimelineCard({ items }: { readonly items: readonly TimelineItem[] }) {
  const { text, word, shortTime } = useTexts()
  return (
    <Disclosure title={text('timeline.title', { count: items.length })}>
      <ol className="events">
        {items.map(item => (
          <li key={item.seq}>
            <span className="turn-time">{item.offset_ms === null ? '–' : shortTime(item.offset_ms)}</span>
            <strong>{word('event', item.kind)}</strong>
            <span>{eventText(item)}</span>
          </li>
        ))}
      </ol>
    </Disclosure>
  )
}

/** The fields that the item has beyond those of every item. */
function eventText(item: TimelineItem): string {
  if (item.kind === 'utterance') return item.text
  return Object.entries(item)
    .filter(([name, value]) => !COMMON.has(name) && value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' · ')
}
