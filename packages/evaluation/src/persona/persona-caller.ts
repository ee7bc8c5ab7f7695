import type { TestCase } from '@parley/contract'
import type { ConversationOptions, ModelMeter } from '@parley/conversation'
import type { Random } from '@parley/kernel'
import type { TextCaller } from '../caller-move.ts'
import { assistantModel } from '../trial.ts'
import { ModelPersona } from './model-persona.ts'
import type { Persona } from './persona.ts'
import { RulesPersona } from './rules-persona.ts'

interface PersonaOptions {
  readonly language: TestCase['language']
  readonly models: ConversationOptions['models']
  readonly meter: ModelMeter
  readonly random: Random
}

/** The player of a persona: a model, or rules where the agent's model is the built-in one. */
export function personaCaller(persona: Persona, { language, models, meter, random }: PersonaOptions): TextCaller {
  const model = assistantModel(models)
  return model === null
    ? new RulesPersona(persona, language, random)
    : new ModelPersona(persona, language, meter.metered(model))
}
