import { FakeAnthropic, FakeGemini, FakeOpenAiChat } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AnthropicMessages } from '../anthropic/io/anthropic-messages.ts'
import { GeminiContent } from '../gemini/io/gemini-content.ts'
import type { LanguageModel } from '../language-model/language-model.ts'
import { OpenAiChat } from '../openai/io/openai-chat.ts'

const options = { apiKey: 'key', time: runningTime }

const MODELS = {
  OpenAI: async () => {
    const fake = await FakeOpenAiChat.open()
    return { fake, model: new OpenAiChat({ ...options, model: 'gpt-4.1-mini', baseUrl: fake.baseUrl }) }
  },
  Anthropic: async () => {
    const fake = await FakeAnthropic.open()
    return { fake, model: new AnthropicMessages({ ...options, model: 'claude-haiku-4-5', baseUrl: fake.origin }) }
  },
  Gemini: async () => {
    const fake = await FakeGemini.open()
    return { fake, model: new GeminiContent({ ...options, model: 'gemini-3.8-flash', baseUrl: fake.baseUrl }) }
  },
}

describe.each(Object.entries(MODELS))('a warmed model of %s', (_name, open) => {
  const prepared = async () => {
    const { fake, model } = await open()
    onTestFinished(async () => {
      await model.close()
      await fake.close()
    })
    return { fake, model: model as LanguageModel }
  }

  async function ask(model: LanguageModel) {
    const types: string[] = []
    const request = { messages: [{ role: 'user', content: 'Hi' }] } as const
    for await (const { type } of model.generate(request, new AbortController().signal)) types.push(type)
    return types.at(-1)
  }

  it('a model answers its first request over the connection that was opened ahead', async () => {
    const { fake, model } = await prepared()
    await model.warm!()
    expect(fake.connections).toBe(1)
    expect(await ask(model)).toBe('finished')
    expect(fake.requests).toHaveLength(1)
    expect(fake.connections).toBe(1)
  })

  it('a model opens no second connection while one is idle', async () => {
    const { fake, model } = await prepared()
    await model.warm!()
    await model.warm!()
    expect(await ask(model)).toBe('finished')
    expect(fake.connections).toBe(1)
  })

  it('a model answers over a new connection when the service closed the one that was opened ahead', async () => {
    const { fake, model } = await prepared()
    await model.warm!()
    fake.breakNextReused()
    expect(await ask(model)).toBe('finished')
    expect(fake.brokenReused).toBe(1)
  })

  it('a service that cannot be reached fails the request and not the preparation', async () => {
    const { fake, model } = await prepared()
    await fake.close()
    await model.warm!()
    await expect(ask(model)).rejects.toMatchObject({ code: 'model_unreachable' })
  })

  it('a closed model opens nothing', async () => {
    const { fake, model } = await prepared()
    await model.close()
    await model.warm!()
    expect(fake.connections).toBe(0)
  })
})
