import { type FormEvent, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { placeOf } from './diagnostics.ts'
import { conditionText, edgesOf, type FlowNode, freeId, instructionOf, type NodeEdge } from './flow-graph.ts'
import { Problem } from './problem-list.tsx'
import type { Edits, OpenDraft } from './use-draft.ts'

interface NodePanelProps {
  readonly open: OpenDraft
  readonly node: FlowNode
  /** Null: the main flow. */
  readonly componentId: string | null
  readonly nodes: readonly FlowNode[]
  readonly isStart: boolean
  readonly onClose: () => void
}

/** The chosen node: its problems, name, instruction, edges, and everything else as JSON. */
export function NodePanel({ open, node, componentId, nodes, isStart, onClose }: NodePanelProps) {
  const { text, word } = useTexts()
  const place = { component_id: componentId, node_id: node.id }
  const problems = open.diagnostics.filter(({ path }) => {
    const found = placeOf(path, open.draft)
    return found !== null && found.nodeId === node.id && found.componentId === componentId
  })
  return (
    <section className="card node-panel" aria-label={text('node.details')}>
      <header className="card-head">
        <h2>{node.name || node.id}</h2>
        <button type="button" className="button quiet icon-only" aria-label={text('action.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <p className="hint">
        {word('node', node.type)} · <span className="code">{node.id}</span>
      </p>
      {problems.length > 0 && (
        <ul className="diagnostics">
          {problems.map(problem => (
            <Problem key={`${problem.code} ${problem.path}`} open={open} diagnostic={problem} />
          ))}
        </ul>
      )}
      <InstructionForm open={open} node={node} componentId={componentId} />
      <h3>{text('node.edges')}</h3>
      <ul className="node-edges">
        {edgesOf(node).map(out => (
          <li key={`${out.slot} ${out.edge.id}`}>
            <EdgeForm open={open} place={place} out={out} nodes={nodes} />
          </li>
        ))}
      </ul>
      <div className="node-actions">
        {'edges' in node && <AddEdge open={open} place={place} node={node} />}
        {!isStart && (
          <button type="button" className="button small" onClick={() => open.edit([{ type: 'flow.start', ...place }])}>
            {text('node.makeStart')}
          </button>
        )}
        <button
          type="button"
          className="button small danger"
          onClick={() => {
            onClose()
            open.edit([{ type: 'flow.node.remove', ...place }])
          }}
        >
          {text('node.remove')}
        </button>
      </div>
      <NodeJson open={open} node={node} componentId={componentId} />
    </section>
  )
}

function InstructionForm({ open, node, componentId }: Pick<NodePanelProps, 'open' | 'node' | 'componentId'>) {
  const { text } = useTexts()
  const instruction = instructionOf(node)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const edits: Edits = []
    const name = String(form.get('name'))
    if (name !== node.name) edits.push({ type: 'flow.node.put', component_id: componentId, node: { ...node, name } })
    if (instruction !== null) {
      const type = form.get('type') === 'static_text' ? 'static_text' : 'prompt'
      const words = String(form.get('text'))
      if (type !== instruction.type || words !== instruction.text)
        edits.push({
          type: 'node.instruction',
          component_id: componentId,
          node_id: node.id,
          instruction: { type, text: words },
        })
    }
    if (edits.length > 0) open.edit(edits)
  }
  return (
    <form className="form" onSubmit={submit}>
      <TextField label={text('agents.name')} name="name" defaultValue={node.name} maxLength={256} />
      {instruction !== null && (
        <>
          <SelectField
            label={text('node.instruction')}
            name="type"
            defaultValue={instruction.type}
            choices={[
              ['prompt', text('node.prompt')],
              ['static_text', text('node.staticText')],
            ]}
          />
          <TextArea label={text('node.text')} name="text" defaultValue={instruction.text} rows={6} maxLength={32_768} />
        </>
      )}
      <FormActions isPending={open.isSaving} look="primary small" />
    </form>
  )
}

interface EdgeFormProps {
  readonly open: OpenDraft
  readonly place: { readonly component_id: string | null; readonly node_id: string }
  readonly out: NodeEdge
  readonly nodes: readonly FlowNode[]
}

function EdgeForm({ open, place, out, nodes }: EdgeFormProps) {
  const { text, word } = useTexts()
  const { edge, slot } = out
  const [condition, setCondition] = useState(conditionText(out, word))
  const isPrompt = edge.transition_condition.type === 'prompt'
  const put = (changed: Partial<Pick<typeof edge, 'destination_node_id' | 'transition_condition'>>) =>
    open.edit([{ type: 'flow.edge.put', ...place, slot, edge: { ...edge, ...changed } as never }])
  return (
    <div className="node-edge">
      <TextField
        label={`${word('slot', slot)} · ${edge.id}`}
        value={condition}
        readOnly={!isPrompt}
        maxLength={4096}
        onChange={event => setCondition(event.target.value)}
        onBlur={() => {
          if (isPrompt && condition !== '' && condition !== conditionText(out, word))
            put({ transition_condition: { type: 'prompt', prompt: condition } })
        }}
      />
      <div className="node-edge-to">
        <SelectField
          label={text('node.leadsTo')}
          value={edge.destination_node_id ?? ''}
          onChange={event => put({ destination_node_id: event.target.value === '' ? null : event.target.value })}
          choices={[['', '–'], ...nodes.map(({ id, name }) => [id, name || id] as const)]}
        />
        <button
          type="button"
          className="button quiet icon-only"
          aria-label={text('node.removeEdge', { edge: edge.id })}
          disabled={open.isSaving}
          onClick={() => open.edit([{ type: 'flow.edge.remove', ...place, edge_id: edge.id }])}
        >
          <Icon name="close" />
        </button>
      </div>
    </div>
  )
}

function AddEdge({ open, place, node }: Pick<EdgeFormProps, 'open' | 'place'> & { readonly node: FlowNode }) {
  const { text } = useTexts()
  const add = () => {
    const id = freeId('edge', new Set(edgesOf(node).map(({ edge }) => edge.id)))
    const condition = { type: 'prompt' as const, prompt: text('flow.newCondition') }
    open.edit([
      {
        type: 'flow.edge.put',
        ...place,
        slot: 'edges',
        edge: { id, transition_condition: condition, destination_node_id: null },
      },
    ])
  }
  return (
    <button type="button" className="button small" disabled={open.isSaving} onClick={add}>
      <Icon name="plus" size={16} />
      {text('node.addEdge')}
    </button>
  )
}

function NodeJson({ open, node, componentId }: Pick<NodePanelProps, 'open' | 'node' | 'componentId'>) {
  const { text } = useTexts()
  const [fault, setFault] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    try {
      const changed = JSON.parse(String(new FormData(event.currentTarget).get('json')))
      setFault(false)
      open.edit([{ type: 'flow.node.put', component_id: componentId, node: changed }])
    } catch {
      setFault(true)
    }
  }
  return (
    <details>
      <summary>{text('node.json')}</summary>
      <form className="form" onSubmit={submit}>
        <TextArea
          label={text('node.allFields')}
          name="json"
          className="code"
          rows={14}
          defaultValue={JSON.stringify(node, null, 2)}
        />
        {fault && <p className="fault">{text('settings.notJson')}</p>}
        <FormActions isPending={open.isSaving} look="small" />
      </form>
    </details>
  )
}
