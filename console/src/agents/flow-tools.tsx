import { useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { SelectField } from '../ui/fields.tsx'
import { freeId } from './flow-graph.ts'
import type { Edits, OpenDraft } from './use-draft.ts'

/** Node types that are complete with their defaults; the others are made from these, as JSON. */
const NEW_TYPES = ['conversation', 'subagent', 'branch', 'extract_dynamic_variables', 'press_digit', 'end'] as const
type NewType = (typeof NEW_TYPES)[number]

interface FlowToolsProps {
  readonly open: OpenDraft
  readonly componentId: string | null
  readonly onComponent: (id: string | null) => void
  readonly onAdded: (nodeId: string) => void
}

/** Chooses the flow or one of its components, and adds nodes. */
export function FlowTools({ open, componentId, onComponent, onAdded }: FlowToolsProps) {
  const { text, word } = useTexts()
  const [type, setType] = useState<NewType>('conversation')
  const { flow } = open.draft
  const add = () => {
    const shown = flow.components.find(({ component_id }) => component_id === componentId) ?? flow
    const id = freeId(type, new Set(shown.nodes.map(node => node.id)))
    const edits: Edits = [{ type: 'flow.node.put', component_id: componentId, node: newNode(type, id) }]
    if (shown.start_node_id === null) edits.push({ type: 'flow.start', component_id: componentId, node_id: id })
    open.edit(edits)
    onAdded(id)
  }
  return (
    <div className="flow-tools">
      {flow.components.length > 0 && (
        <SelectField
          label={text('flow.part')}
          value={componentId ?? ''}
          onChange={event => onComponent(event.target.value === '' ? null : event.target.value)}
          choices={[
            ['', text('flow.main')],
            ...flow.components.map(({ component_id, name }) => [component_id, name || component_id] as const),
          ]}
        />
      )}
      <SelectField
        label={text('flow.newNode')}
        value={type}
        onChange={event => setType(NEW_TYPES.find(known => known === event.target.value) ?? 'conversation')}
        choices={NEW_TYPES.map(known => [known, word('node', known)] as const)}
      />
      <button type="button" className="button" disabled={open.isSaving} onClick={add}>
        <Icon name="plus" />
        {text('flow.add')}
      </button>
    </div>
  )
}

type NewNode = Extract<Edits[number], { type: 'flow.node.put' }>['node']

/** A node with what its type requires; the API fills in the defaults. */
function newNode(type: NewType, id: string): NewNode {
  switch (type) {
    case 'conversation':
    case 'subagent':
      return { id, type, instruction: { type: 'prompt', text: '' } }
    case 'branch':
      return {
        id,
        type,
        edges: [
          {
            id: 'edge',
            transition_condition: { type: 'equation', equations: [{ left: '{{x}}', operator: 'exists' }] },
          },
        ],
        else_edge: { id: 'else', transition_condition: { type: 'prompt', prompt: 'Else' } },
      }
    case 'extract_dynamic_variables':
      return { id, type, variables: [{ type: 'string', name: 'value', description: 'What the caller said' }] }
    case 'press_digit':
      return { id, type, instruction: { type: 'static_text', text: '1' } }
    case 'end':
      return { id, type }
  }
}
