"use strict";
// Draws the references that the table below lists.

async function drawGraph(place) {
  const { data } = await (await fetch(place.dataset.from)).json();
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const lost = data.edges.filter((edge) => !edge.target || edge.trouble);
  const ids = new Set(data.nodes.map((node) => node.id));
  const elements = [
    ...data.nodes.map((node) => ({ data: { id: node.id, label: node.full_name, href: "/skills/" + node.full_name } })),
    ...lost.map((edge, at) => ({ data: { id: "lost" + at, label: edge.path || edge.target_name }, classes: "lost" })),
    ...data.edges.filter((edge) => edge.target && !edge.trouble && ids.has(edge.target)).map((edge) => ({ data: { source: edge.source, target: edge.target } })),
    ...lost.map((edge, at) => ({ data: { source: edge.source, target: "lost" + at }, classes: "lost" })),
  ];
  const graph = cytoscape({
    container: place,
    elements,
    minZoom: 0.1,
    maxZoom: 3,
    layout: { name: "cose", animate: false, nodeRepulsion: 9000, idealEdgeLength: 90, randomize: true },
    style: [
      { selector: "node", style: { label: "data(label)", "background-color": colour("--accent"), color: colour("--text"), "font-size": 11, width: 18, height: 18, "text-valign": "bottom", "text-margin-y": 4, "text-background-color": colour("--surface"), "text-background-opacity": 0.8 } },
      { selector: "edge", style: { width: 1.5, "line-color": colour("--strong-line"), "target-arrow-color": colour("--strong-line"), "target-arrow-shape": "triangle", "curve-style": "bezier" } },
      { selector: ".lost", style: { "background-color": colour("--bad"), "line-color": colour("--bad"), "target-arrow-color": colour("--bad"), "line-style": "dashed", shape: "diamond" } },
      { selector: ".quiet", style: { opacity: 0.15 } },
    ],
  });
  if (graph.zoom() > 1.2) { graph.zoom(1.2); graph.center(); }
  graph.on("tap", "node[href]", (event) => { location.href = event.target.data("href"); });
  graph.on("mouseover", "node", (event) => {
    graph.elements().addClass("quiet");
    event.target.closedNeighborhood().removeClass("quiet");
  });
  graph.on("mouseout", "node", () => graph.elements().removeClass("quiet"));
  for (const button of document.querySelectorAll("#graph-tools button")) {
    button.onclick = () => zoomGraph(graph, Number(button.value));
  }
  document.getElementById("graph-tools").hidden = false;
  place.dataset.drawn = String(graph.nodes().length);
}

function zoomGraph(graph, factor) {
  if (!factor) { graph.fit(undefined, 30); return; }
  const middle = { x: graph.width() / 2, y: graph.height() / 2 };
  graph.zoom({ level: graph.zoom() * factor, renderedPosition: middle });
}

const graphPlace = document.getElementById("graph");
if (graphPlace) drawGraph(graphPlace);
