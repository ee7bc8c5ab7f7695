import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import { Empty, Fault, Loading } from '../ui/parts.tsx'
import type { Run } from './run-words.tsx'
import { sipLine } from './sip-message.ts'

/** Seconds since the first message. */
const SECONDS = { minimumFractionDigits: 3, maximumFractionDigits: 3 }

/** The SIP messages of the call between Parley and the far end; a message opens with a click. */
export function LadderCard({ run }: { readonly run: Run }) {
  const { text } = useTexts()
  return (
    <Disclosure title={text('ladder.title')}>
      <Ladder run={run} />
    </Disclosure>
  )
}

function Ladder({ run }: { readonly run: Run }) {
  const api = useApi()
  const { text, number } = useTexts()
  const [opened, setOpened] = useState<number | null>(null)
  const ladder = useQuery({
    queryKey: ['runs.ladder', run.run_id, run.state],
    queryFn: ({ signal }) => api.runs.ladder({ params: { run_id: run.run_id } }, { signal }),
  })
  if (ladder.isPending) return <Loading />
  if (ladder.isError) return <Fault error={ladder.error} />
  const { items, truncated } = ladder.data
  const [first] = items
  if (first === undefined) return <Empty>{text('ladder.empty')}</Empty>
  const began = Date.parse(first.at)
  return (
    <div className="ladder">
      <div className="ladder-ends" aria-hidden="true">
        <span>Parley</span>
        <span>{text('ladder.farEnd')}</span>
      </div>
      <ol>
        {items.map((item, index) => {
          const line = sipLine(item.message)
          const far = item.direction === 'out' ? item.destination : item.source
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages are only added at the end
            <li key={index} className={`${item.direction} class-${line.statusClass}`}>
              <button
                type="button"
                aria-expanded={opened === index}
                onClick={() => setOpened(opened === index ? null : index)}
              >
                <span className="ladder-time">+{number((Date.parse(item.at) - began) / 1000, SECONDS)}</span>
                <span className="ladder-arrow">
                  <span className="ladder-title">{line.title}</span>
                  <span className="hint">
                    {[line.isRequest ? null : line.cseq, line.body].filter(Boolean).join(' · ')}
                  </span>
                </span>
                <span className="ladder-far code">
                  {item.transport} {far}
                </span>
              </button>
              {opened === index && <pre className="json">{item.message}</pre>}
            </li>
          )
        })}
      </ol>
      {truncated && <p className="hint">{text('ladder.truncated')}</p>}
    </div>
  )
}
