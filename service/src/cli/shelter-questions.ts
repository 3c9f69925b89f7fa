import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import type { ReadConfig } from '../platform/config.ts';
import { type Question, QuestionSchema, ShelterQuestionsSchema } from '../store/questions/question-schemas.ts';
import { getQuestions, setQuestions } from '../store/questions/questions.ts';
import { commandAuthor } from './command-author.ts';
import { readJsonFile } from './json-files.ts';
import { parseId } from './option-values.ts';
import { printTable } from './output.ts';
import { onStore } from './store-command.ts';

interface Options {
  readonly file?: string;
}

export function addQuestionsCommand(shelters: Command, config: ReadConfig): void {
  const questions = shelters
    .command('questions')
    .description('show what a shelter asks those who apply for its animals, or replace it by what a file has')
    .argument('<id>', 'the shelter', parseId)
    .option('--file <file>', 'the new questions, as --json prints them; - is standard input');
  onStore(questions, config, async (id: bigint, { file }: Options) => {
    const given = file === undefined ? undefined : await readQuestions(file);
    return async ({ db }) => {
      const access = { key: theService, by: commandAuthor(), expect: () => {} };
      const asked = given ? await setQuestions(db, id, given, access) : await getQuestions(db, id);
      return { json: { questions: asked }, text: () => printTable(asked.map(rowOf), `Shelter ${id} asks nothing.`, { leastImportant }) };
    };
  });
}

const readQuestions = async (file: string): Promise<readonly Question[]> => {
  const options = { shared: [QuestionSchema], ifEmpty: 'To remove all questions, it must have {"questions":[]}.' };
  const { questions } = (await readJsonFile(file, ShelterQuestionsSchema, options)) as { questions: readonly Question[] };
  return questions;
};

const leastImportant = ['options', 'only if', 'required'];

const rowOf = ({ id, text, type, options = [], required, onlyIf }: Question) => ({
  id,
  type,
  text,
  options: options.join(', ') || null,
  required: required ? 'yes' : 'no',
  'only if': onlyIf ? `${onlyIf.question} is ${onlyIf.is}` : null,
});
