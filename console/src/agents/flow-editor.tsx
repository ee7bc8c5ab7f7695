import type { Diagnostic } from '@parley/client'
import {
  Background,
  type Edge as CanvasEdge,
  type Node as CanvasNode,
  type Connection,
  Controls,
  MarkerType,
  MiniMap,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useNodesState,
  useStoreApi,
} from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { useTheme } from '../shell/theme.tsx'
import { problemsByNode } from './diagnostics.ts'
import { conditionText, edgesOf, type Flow, firstViewport, freeId, instructionOf, layout } from './flow-graph.ts'
import { FlowNodeCard, type NodeCardData } from './flow-node.tsx'
import { FlowTools } from './flow-tools.tsx'
import { NodePanel } from './node-panel.tsx'
import { ProblemList } from './problem-list.tsx'
import type { OpenDraft } from './use-draft.ts'

const NODE_TYPES = { card: FlowNodeCard }

/** The flow as a graph, the chosen node beside it, and what validation found. */
export function FlowEditor({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const [componentId, setComponent] = useState<string | null>(null)
  const [selected, setSelected] = useState<string | null>(null)
  const { flow } = open.draft
  const component = flow.components.find(({ component_id }) => component_id === componentId)
  const shown = component ?? flow
  const node = shown.nodes.find(({ id }) => id === selected) ?? null
  return (
    <div className="stack">
      <FlowTools
        open={open}
        componentId={component === undefined ? null : componentId}
        onComponent={id => {
          setComponent(id)
          setSelected(null)
        }}
        onAdded={setSelected}
      />
      <div className={node === null ? 'flow' : 'flow with-panel'}>
        <section className="card canvas" aria-label={text('flow.graph')}>
          <ReactFlowProvider key={componentId ?? ''}>
            <Graph open={open} shown={shown} componentId={componentId} selected={selected} onSelect={setSelected} />
          </ReactFlowProvider>
        </section>
        {node !== null && (
          <NodePanel
            key={`${componentId} ${JSON.stringify(node)}`}
            open={open}
            node={node}
            componentId={componentId}
            nodes={shown.nodes}
            isStart={shown.start_node_id === node.id}
            onClose={() => setSelected(null)}
          />
        )}
      </div>
      <ProblemList
        open={open}
        diagnostics={open.diagnostics}
        onPlace={place => {
          setComponent(place.componentId)
          setSelected(place.nodeId)
        }}
      />
    </div>
  )
}

interface GraphProps {
  readonly open: OpenDraft
  readonly shown: Pick<Flow, 'nodes' | 'start_node_id'>
  readonly componentId: string | null
  readonly selected: string | null
  readonly onSelect: (id: string | null) => void
}

function Graph({ open, shown, componentId, selected, onSelect }: GraphProps) {
  const { text, word } = useTexts()
  const { theme } = useTheme()
  const { nodes, edges } = useCanvas(open, shown, componentId, selected, word)
  const canvas = useStoreApi()
  const [placed, setPlaced, onNodesChange] = useNodesState(nodes)
  useEffect(() => setPlaced(nodes), [nodes, setPlaced])
  const onSelectionChange = useCallback(
    ({ nodes: [chosen] }: { nodes: CanvasNode[] }) => {
      if (chosen !== undefined) onSelect(chosen.id)
    },
    [onSelect],
  )
  const connect = ({ source, target }: Connection) => {
    const from = shown.nodes.find(({ id }) => id === source)
    if (from === undefined) return
    const id = freeId('edge', new Set(edgesOf(from).map(({ edge }) => edge.id)))
    const condition = { type: 'prompt' as const, prompt: text('flow.newCondition') }
    const edge = { id, transition_condition: condition, destination_node_id: target }
    open.edit([{ type: 'flow.edge.put', component_id: componentId, node_id: source, slot: 'edges', edge }])
  }
  const move = (_: unknown, moved: CanvasNode) => {
    const node = shown.nodes.find(({ id }) => id === moved.id)
    const { x, y } = moved.position
    if (node === undefined || (node.display_position?.x === x && node.display_position?.y === y)) return
    const display_position = { x: Math.round(x), y: Math.round(y) }
    open.edit([{ type: 'flow.node.put', component_id: componentId, node: { ...node, display_position } }])
  }
  const showFirst = ({ setViewport }: Pick<ReactFlowInstance, 'setViewport'>) => {
    const positions = new Map(nodes.map(({ id, position }) => [id, position]))
    void setViewport(firstViewport(positions, shown.start_node_id, canvas.getState()))
  }
  return (
    <ReactFlow
      nodes={placed}
      edges={edges}
      onNodesChange={onNodesChange}
      nodeTypes={NODE_TYPES}
      colorMode={theme}
      onInit={showFirst}
      minZoom={0.1}
      onConnect={connect}
      onNodeDragStop={move}
      onNodeClick={(_, node) => onSelect(node.id)}
      onSelectionChange={onSelectionChange}
      onPaneClick={() => onSelect(null)}
      deleteKeyCode={null}
      proOptions={{ hideAttribution: false }}
      aria-label={text('flow.graph')}
    >
      <Background />
      <Controls showInteractive={false} />
      <MiniMap pannable zoomable ariaLabel={text('flow.map')} />
    </ReactFlow>
  )
}

/** Nodes and edges as the canvas takes them. */
function useCanvas(
  open: OpenDraft,
  shown: GraphProps['shown'],
  componentId: string | null,
  selected: string | null,
  word: (group: string, value: string) => string,
) {
  const { draft, diagnostics } = open
  return useMemo(() => {
    const positions = layout(shown.nodes, shown.start_node_id)
    const problems = problemsByNode(diagnostics as Diagnostic[], draft, componentId)
    const ids = new Set(shown.nodes.map(({ id }) => id))
    const nodes = shown.nodes.map(
      (node): CanvasNode<NodeCardData> => ({
        id: node.id,
        type: 'card',
        position: positions.get(node.id)!,
        selected: node.id === selected,
        ariaLabel: `${word('node', node.type)} ${node.name || node.id}`,
        data: {
          nodeType: node.type,
          title: node.name || node.id,
          text: instructionOf(node)?.text ?? '',
          isStart: node.id === shown.start_node_id,
          problems: problems.get(node.id) ?? null,
        },
      }),
    )
    const edges = shown.nodes.flatMap(node =>
      edgesOf(node).flatMap((out): CanvasEdge[] => {
        const target = out.edge.destination_node_id
        if (target === null || !ids.has(target)) return []
        const label = conditionText(out, word)
        return [
          {
            id: `${node.id} ${out.slot} ${out.edge.id}`,
            source: node.id,
            target,
            label: label.length > 34 ? `${label.slice(0, 32)}…` : label,
            className: `edge-${out.slot}`,
            markerEnd: { type: MarkerType.ArrowClosed },
          },
        ]
      }),
    )
    return { nodes, edges }
  }, [draft, diagnostics, shown, componentId, selected, word])
}
