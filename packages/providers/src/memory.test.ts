// The place in memory keeps the rules of all places.
import { type Problem, type Provider } from '@fairlead/core';
import { testProvider } from '@fairlead/testkit';
import { memory, memoryStore, type MemoryForm } from './memory.ts';

testProvider<MemoryForm>({
  async make() {
    const store = memoryStore();
    const inner = memory(store);
    const faults: Problem[] = [];
    const next = () => {
      const problem = faults.shift();
      return problem && { ok: false as const, problem };
    };
    const provider: Provider<MemoryForm> = {
      ...inner,
      owned: async (owner, signal) => next() ?? inner.owned(owner, signal),
      read: async (scope, signal) => next() ?? inner.read(scope, signal),
      apply: async (plan, signal) => next() ?? inner.apply(plan, signal),
    };
    return {
      provider,
      other: memory(store),
      failNext: (code) => void faults.push({ code, message: 'told to fail' }),
      disable: async (pool, member) => inner.disable(pool, member),
    };
  },
});
