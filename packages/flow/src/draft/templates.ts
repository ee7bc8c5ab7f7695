import { type DraftContent, readDraft } from '../plan/draft.ts'
import type { Language } from '../plan/languages.ts'
import type { Providers } from '../plan/references.ts'

export type TemplateName = 'phone_outbound' | 'cloud_task' | 'cloud_chat' | 'blank'

interface TemplateFacts {
  /** 1..256 characters. */
  readonly name: string
  readonly language: Language
  /** Speech-to-text, language model and voice: the first that are ready for the language. */
  readonly providers: Providers
}

/** The first draft of an agent. All but `blank` validate without errors where the providers are ready. */
export function fromTemplate(template: TemplateName, { name, language, providers }: TemplateFacts): DraftContent {
  const { settings, nodes } = TEMPLATES[template](TEXTS[language])
  return readDraft({
    name,
    settings: { ...settings, language },
    providers,
    flow: { start_node_id: nodes[0]?.id ?? null, nodes },
  })
}

interface Texts {
  readonly greet: string
  readonly served: string
  readonly goodbye: string
  readonly work: string
  readonly chat: string
}

const TEXTS: { readonly [Name in Language]: Texts } = {
  en: {
    greet: 'Greet the person you call, say who you are and why you call, and answer their questions.',
    served: 'They have no more questions, or want to end the call',
    goodbye: 'Thank them and say goodbye.',
    work: 'Do the task that the variables of the run describe, and write down the result.',
    chat: 'Welcome the user, ask how you can help, and answer their questions.',
  },
  es: {
    greet: 'Saluda a la persona a la que llamas, di quién eres y por qué llamas, y responde a sus preguntas.',
    served: 'No tiene más preguntas o quiere terminar la llamada',
    goodbye: 'Da las gracias y despídete.',
    work: 'Haz la tarea que describen las variables de la ejecución y escribe el resultado.',
    chat: 'Da la bienvenida, pregunta en qué puedes ayudar y responde a las preguntas.',
  },
}

const prompt = (text: string) => ({ type: 'prompt' as const, text })
const edge = (id: string, condition: string, to: string) => ({
  id,
  transition_condition: { type: 'prompt' as const, prompt: condition },
  destination_node_id: to,
})

const TEMPLATES = {
  phone_outbound: (texts: Texts) => ({
    settings: { channels: ['phone' as const], openerWaitsForCallee: true },
    nodes: [
      {
        id: 'greeting',
        type: 'conversation' as const,
        instruction: prompt(texts.greet),
        edges: [edge('served', texts.served, 'goodbye')],
      },
      { id: 'goodbye', type: 'end' as const, speak_during_execution: true, instruction: prompt(texts.goodbye) },
    ],
  }),
  cloud_task: (texts: Texts) => ({
    settings: { channels: ['cloud' as const] },
    nodes: [
      {
        id: 'work',
        type: 'conversation' as const,
        instruction: prompt(texts.work),
        always_edge: edge('written', 'Always', 'done'),
      },
      { id: 'done', type: 'end' as const },
    ],
  }),
  cloud_chat: (texts: Texts) => ({
    settings: { channels: ['cloud' as const] },
    nodes: [
      {
        id: 'chat',
        type: 'conversation' as const,
        instruction: prompt(texts.chat),
        edges: [edge('served', texts.served, 'done')],
      },
      { id: 'done', type: 'end' as const, speak_during_execution: true, instruction: prompt(texts.goodbye) },
    ],
  }),
  blank: () => ({ settings: { channels: ['cloud' as const, 'phone' as const] }, nodes: [] }),
}
