import { Handle, type NodeProps, Position } from '@xyflow/react'
import { useTexts } from '../i18n/i18n.tsx'
import type { NodeProblems } from './diagnostics.ts'

/** What the card of a node shows. */
export interface NodeCardData extends Record<string, unknown> {
  readonly nodeType: string
  readonly title: string
  readonly text: string
  readonly isStart: boolean
  readonly problems: NodeProblems | null
}

/** A node of the graph. */
export function FlowNodeCard({ data, selected }: NodeProps) {
  const { text, word } = useTexts()
  const { nodeType, title, text: words, isStart, problems } = data as NodeCardData
  return (
    <div className={`flow-node type-${nodeType}${selected ? ' selected' : ''}`}>
      <Handle type="target" position={Position.Left} />
      <div className="flow-node-type">
        {word('node', nodeType)}
        {isStart && <span className="badge good">{text('flow.start')}</span>}
        {problems !== null && problems.errors > 0 && <span className="badge bad">{problems.errors}</span>}
        {problems !== null && problems.errors === 0 && <span className="badge warn">{problems.warnings}</span>}
      </div>
      <strong>{title}</strong>
      {words !== '' && <p>{words.length > 80 ? `${words.slice(0, 78)}…` : words}</p>}
      <Handle type="source" position={Position.Right} />
    </div>
  )
}
