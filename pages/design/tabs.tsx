import { type ReactNode, useRef } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs';
import { useChosenInSight } from './tab-line.ts';
import './tabs.css';

interface TabsProps {
  /** The accessible name of the tab list. */
  name: string;
  tabs: { id: string; title: string; count?: number; content: () => ReactNode }[];
  selected: string;
  onSelect: (id: string) => void;
}

/** Views of one thing, one of which is visible. Only the selected one is rendered. A count beside a title is not part of the tab's name. */
export function Tabs({ name, tabs, selected, onSelect }: TabsProps): ReactNode {
  const line = useRef<HTMLDivElement>(null);
  useChosenInSight(line, '[aria-selected="true"]', selected);
  return (
    <AriaTabs selectedKey={selected} onSelectionChange={(key) => onSelect(String(key))}>
      <TabList ref={line} className="tab-line tab-list" aria-label={name}>
        {tabs.map(({ id, title, count }) => (
          <Tab key={id} id={id} className="tab">
            {title}
            {count !== undefined && <span className="tab-count" data-count={count} />}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className="tab-panel">
          {id === selected && content()}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
